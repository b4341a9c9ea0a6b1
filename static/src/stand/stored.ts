/*
 * What the standard way leaves in HBM: a small slab on a stack for every block of S and of P that has been written.
 * FlashAttention writes none, so its stacks stay bare.
 */
import { DynamicDrawUsage, InstancedBufferAttribute, InstancedMesh, Matrix4, MeshStandardMaterial } from "three";
import { explodeOffset } from "./explode";
import { keptAt } from "./flow";
import type { FlowLayout } from "./flow-layout";
import { slabGeometry } from "./slab";
import { FACES } from "./tile-atlas";
import type { Flow } from "./types";

/** Three matrices of 32 × 32 blocks. */
const MOST = 3 * 32 * 32;

export class Stored {
  readonly mesh: InstancedMesh;
  private readonly matrix = new Matrix4();
  private readonly isP: InstancedBufferAttribute;
  private drawn: { layout: FlowLayout; explode: number } | null = null;

  constructor(private readonly top: number) {
    const geometry = slabGeometry(0.22, 0.12, 1, false);
    this.isP = new InstancedBufferAttribute(new Float32Array(MOST), 1);
    this.isP.setUsage(DynamicDrawUsage);
    geometry.setAttribute("aIsP", this.isP);
    const material = new MeshStandardMaterial({
      color: 0x9a4a10,
      emissive: FACES.s.colour,
      emissiveIntensity: 0.5,
      roughness: 0.8,
      envMapIntensity: 0.5,
    });
    // A hole in P's cells tells the two halves apart without colour.
    material.onBeforeCompile = (shader) => {
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", "#include <common>\nattribute float aIsP;\nvarying vec3 vCell;")
        .replace("#include <begin_vertex>", "#include <begin_vertex>\nvCell = vec3(position.xz, aIsP);");
      shader.fragmentShader = shader.fragmentShader
        .replace("#include <common>", "#include <common>\nvarying vec3 vCell;")
        .replace(
          "#include <opaque_fragment>",
          `float dot0 = 1.0 - smoothstep(0.17, 0.24, length(vCell.xy));
          outgoingLight = mix(outgoingLight, vec3(1.0, 0.93, 0.86), dot0 * vCell.z * 0.9);
          #include <opaque_fragment>`,
        );
    };
    this.mesh = new InstancedMesh(geometry, material, MOST);
    this.mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    this.mesh.frustumCulled = false;
    this.mesh.count = 0;
    this.mesh.visible = false;
  }

  show(flow: Flow | null, layout: FlowLayout | null, explode: number): void {
    if (flow && layout && this.stands(flow, layout, explode)) return;
    let count = 0;
    if (flow && layout) {
      const { blocks_m, blocks_n } = flow.schedule;
      const rise = explodeOffset("stacks_left", explode);
      for (let m = 0; m < blocks_m; m++)
        for (let n = 0; n < blocks_n; n++) {
          for (let as = 0; as < layout.storedKinds; as++) {
            const which = as as 0 | 1 | 2;
            if (!keptAt(flow.schedule, flow.time, m, n, which)) continue;
            const [x, z, side] = layout.storedCell(which, m, n);
            this.matrix.makeScale(side, side, side);
            this.matrix.setPosition(x + Math.sign(x) * Math.abs(rise[0]), this.top + 0.02 + rise[1], z);
            this.mesh.setMatrixAt(count, this.matrix);
            this.isP.array[count] = which === 1 ? 1 : 0;
            count++;
          }
        }
    }
    this.mesh.count = count;
    this.drawn = layout && { layout, explode };
    this.mesh.visible = count > 0;
    if (count === 0) return;
    this.mesh.instanceMatrix.needsUpdate = true;
    this.isP.needsUpdate = true;
  }

  /** Whether what was drawn last is still right. What has been written stays, so its number tells. */
  private stands({ schedule, time }: Flow, layout: FlowLayout, explode: number): boolean {
    if (this.drawn?.layout !== layout || this.drawn.explode !== explode) return false;
    let count = 0;
    for (let m = 0; m < schedule.blocks_m; m++)
      for (let n = 0; n < schedule.blocks_n; n++)
        for (let as = 0; as < layout.storedKinds; as++) if (keptAt(schedule, time, m, n, as as 0 | 1 | 2)) count++;
    return count === this.mesh.count;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    (this.mesh.material as MeshStandardMaterial).dispose();
    this.mesh.dispose();
  }
}
