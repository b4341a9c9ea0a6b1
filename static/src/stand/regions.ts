/*
 * Light on the die's floor plan: thin plates over the L2 halves, SMs, clusters and controllers that shine when a level
 * of memory is spoken of, when an SM works, or when tiles wait in the L2. One draw call for all of them.
 */
import {
  BoxGeometry,
  Color,
  DynamicDrawUsage,
  InstancedBufferAttribute,
  InstancedMesh,
  Matrix4,
  ShaderMaterial,
  Vector3,
} from "three";
import { markBodiless } from "./bodiless";
import type { PackageModel, RegionKind } from "./package";

/** Kinds that can be lit, in drawing order, with their colour; none of them is a colour of data. */
const KINDS: readonly { kind: RegionKind; colour: string }[] = [
  { kind: "l2", colour: "#8fd0ff" },
  { kind: "sm", colour: "#fff2c4" },
  { kind: "gpc", colour: "#c8d3e6" },
  { kind: "memory_controller", colour: "#b8c4cf" },
];

/** Levels of memory inside an SM: shown on the opened one. */
export const INSIDE_SM: readonly string[] = ["smem", "rmem"];
export const REGION_KINDS: readonly string[] = KINDS.map(({ kind }) => kind);

export class Regions {
  readonly mesh: InstancedMesh;
  private readonly levels: InstancedBufferAttribute;
  private readonly first: Record<string, number> = {};
  private readonly counts: Record<string, number> = {};

  constructor(model: PackageModel) {
    const plates = KINDS.flatMap(({ kind, colour }) => model.regions[kind].map((region) => ({ region, colour, kind })));
    const geometry = new BoxGeometry(1, 1, 1);
    this.levels = new InstancedBufferAttribute(new Float32Array(plates.length), 1);
    this.levels.setUsage(DynamicDrawUsage);
    geometry.setAttribute("aLevel", this.levels);
    const colours = new Float32Array(plates.length * 3);
    this.mesh = new InstancedMesh(
      geometry,
      new ShaderMaterial({
        vertexShader: /* glsl */ `
          attribute float aLevel;
          attribute vec3 aColour;
          varying vec4 vColour;
          varying vec3 vLocal;
          varying vec2 vSize;
          void main() {
            vLocal = position;
            vSize = vec2(length(instanceMatrix[0].xyz), length(instanceMatrix[2].xyz));
            vColour = vec4(aColour, aLevel);
            gl_Position = aLevel > 0.0
              ? projectionMatrix * modelViewMatrix * instanceMatrix * vec4(position, 1.0)
              : vec4(2.0, 2.0, 2.0, 1.0);
          }`,
        // Brighter towards its rim, so that neighbouring plates stay apart.
        fragmentShader: /* glsl */ `
          varying vec4 vColour;
          varying vec3 vLocal;
          varying vec2 vSize;
          void main() {
            vec2 inside = (0.5 - abs(vLocal.xz)) * vSize;
            float rim = 1.0 - smoothstep(0.05, 0.22, min(inside.x, inside.y));
            gl_FragColor = vec4(vColour.rgb, vColour.a * (0.55 + 0.45 * rim));
            #include <colorspace_fragment>
          }`,
        transparent: true,
        depthWrite: false,
        toneMapped: false,
      }),
      plates.length,
    );
    const matrix = new Matrix4();
    const colour = new Color();
    plates.forEach(({ region: [x, z, w, d], colour: name, kind }, i) => {
      this.first[kind] ??= i;
      this.counts[kind] = (this.counts[kind] ?? 0) + 1;
      matrix.makeScale(w, 0.04, d).setPosition(new Vector3(x, model.dieTop + 0.07, z));
      this.mesh.setMatrixAt(i, matrix);
      colour.set(name).toArray(colours, i * 3);
    });
    geometry.setAttribute("aColour", new InstancedBufferAttribute(colours, 3));
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 2;
    markBodiless(this.mesh);
    this.mesh.visible = false;
    model.groups.gpu_die.add(this.mesh);
  }

  /** Lights whole kinds (0…1 each) and, on top, single SMs. */
  light(kinds: ReadonlyMap<string, number>, sms: ReadonlyMap<number, number>): void {
    const levels = this.levels.array as Float32Array;
    let any = sms.size > 0;
    for (const { kind } of KINDS) {
      const level = kinds.get(kind) ?? 0;
      any ||= level > 0;
      const first = this.first[kind] as number;
      levels.fill(level, first, first + (this.counts[kind] as number));
    }
    for (const [sm, level] of sms) {
      const at = (this.first.sm as number) + sm;
      levels[at] = Math.max(levels[at] as number, level);
    }
    this.levels.needsUpdate = true;
    this.mesh.visible = any;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    (this.mesh.material as ShaderMaterial).dispose();
    this.mesh.dispose();
  }
}
