/*
 * Lit edges: a line of constant width on the screen along the rims of the main parts, so that dark neighbours are
 * parted by light (on the projector: by black outlines). Lines are quads widened in the shader, since WebGL draws lines
 * one pixel thin whatever it is asked. One mesh per group, so that they move apart with it.
 */
import {
  Color,
  Float32BufferAttribute,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  type IUniform,
  Mesh,
  ShaderMaterial,
  Vector2,
} from "three";
import type { Box } from "../math/view";
import { markBodiless } from "./bodiless";
import { GROUPS, type GroupName } from "./explode";
import type { PackageModel } from "./package";
import type { Room } from "./themes";

/** Parts that get edges, with how far the drawn rim lies inside the part's bounds, in mm. */
const RIMMED = /^(gpu_die|hbm_stack_\d|interposer|moulding|substrate|base)$/;
const INSET = 0.06;

const VERTEX = /* glsl */ `
attribute vec3 aStart;
attribute vec3 aEnd;
attribute vec2 aState;
uniform vec2 resolution;
uniform float width;
varying vec2 vState;
void main() {
  vState = aState;
  vec4 a = projectionMatrix * modelViewMatrix * vec4(aStart, 1.0);
  vec4 b = projectionMatrix * modelViewMatrix * vec4(aEnd, 1.0);
  vec2 along = normalize((b.xy / b.w - a.xy / a.w) * resolution + vec2(1e-5, 0.0));
  vec4 here = position.x < 0.5 ? a : b;
  float w = width * (1.0 + 1.2 * step(0.5, aState.y));
  vec2 side = vec2(-along.y, along.x) * position.y + along * (position.x - 0.5);
  here.xy += side * w / resolution * here.w;
  // Drawn a little in front of the surface it lies on.
  here.z -= 0.00006 * here.w;
  gl_Position = here;
}`;

const FRAGMENT = /* glsl */ `
uniform vec3 colour;
uniform vec3 accent;
uniform float opacity;
varying vec2 vState;
void main() {
  gl_FragColor = vec4(mix(colour, accent, vState.y), mix(opacity * (1.0 - 0.8 * vState.x), 1.0, vState.y));
  #include <colorspace_fragment>
}`;

export class Edges {
  private readonly meshes: Mesh<InstancedBufferGeometry, ShaderMaterial>[] = [];
  private readonly uniforms: Record<string, IUniform> = {
    resolution: { value: new Vector2(1, 1) },
    width: { value: 1 },
    opacity: { value: 1 },
    colour: { value: new Color() },
    accent: { value: new Color() },
  };
  private readonly states: { part: string; attribute: InstancedBufferAttribute; first: number; count: number }[] = [];

  constructor(model: PackageModel) {
    const material = new ShaderMaterial({
      uniforms: this.uniforms,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: false,
      toneMapped: false,
    });
    for (const group of GROUPS) this.addGroup(model, group, material);
  }

  private addGroup(model: PackageModel, group: GroupName, material: ShaderMaterial): void {
    const starts: number[] = [];
    const ends: number[] = [];
    const owners: { part: string; first: number; count: number }[] = [];
    for (const part of model.parts.values()) {
      if (part.group !== group || !RIMMED.test(part.id)) continue;
      const first = starts.length / 3;
      const bounds = part.id === "base" ? (part.boxes[0] as Box) : part.bounds;
      for (const [a, b] of rim(bounds, part.id === "base" ? 1.3 : INSET)) {
        starts.push(...a);
        ends.push(...b);
      }
      owners.push({ part: part.id, first, count: starts.length / 3 - first });
    }
    if (starts.length === 0) return;
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute("position", new Float32BufferAttribute([0, -1, 0, 1, -1, 0, 1, 1, 0, 0, 1, 0], 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    geometry.setAttribute("aStart", new InstancedBufferAttribute(new Float32Array(starts), 3));
    geometry.setAttribute("aEnd", new InstancedBufferAttribute(new Float32Array(ends), 3));
    const attribute = new InstancedBufferAttribute(new Float32Array((starts.length / 3) * 2), 2);
    geometry.setAttribute("aState", attribute);
    geometry.instanceCount = starts.length / 3;
    for (const owner of owners) this.states.push({ ...owner, attribute });
    const mesh = new Mesh(geometry, material);
    mesh.frustumCulled = false;
    mesh.renderOrder = 3;
    markBodiless(mesh);
    mesh.name = `edges_${group}`;
    model.groups[group].add(mesh);
    this.meshes.push(mesh);
  }

  setRoom(room: Room): void {
    (this.uniforms.colour as IUniform<Color>).value.set(room.edge);
    (this.uniforms.accent as IUniform<Color>).value.set(room.accent);
    (this.uniforms.width as IUniform<number>).value = room.edgeWidth;
    (this.uniforms.opacity as IUniform<number>).value = room.edgeOpacity;
  }

  /** Size of the canvas in CSS px. */
  resize(width: number, height: number): void {
    (this.uniforms.resolution as IUniform<Vector2>).value.set(width, height);
  }

  /** Veil and glow of a part, each 0…1. */
  setState(part: string, veil: number, glow: number): void {
    for (const state of this.states)
      if (state.part === part) {
        for (let i = state.first; i < state.first + state.count; i++) state.attribute.setXY(i, veil, glow);
        state.attribute.needsUpdate = true;
      }
  }

  dispose(): void {
    for (const mesh of this.meshes) mesh.geometry.dispose();
    this.meshes[0]?.material.dispose();
  }
}

type Point = [number, number, number];

/** The four edges of the top and the four upright ones. */
function rim(box: Box, inset: number): [Point, Point][] {
  const [x0, y0, z0] = [box.min[0] + inset, box.min[1], box.min[2] + inset];
  const [x1, y1, z1] = [box.max[0] - inset, box.max[1], box.max[2] - inset];
  const around: [number, number][] = [
    [x0, z0],
    [x1, z0],
    [x1, z1],
    [x0, z1],
  ];
  return around.flatMap(([x, z], i): [Point, Point][] => {
    const [nx, nz] = around[(i + 1) % 4] as [number, number];
    return [
      [
        [x, y1, z],
        [nx, y1, nz],
      ],
      [
        [x, y0, z],
        [x, y1, z],
      ],
    ];
  });
}
