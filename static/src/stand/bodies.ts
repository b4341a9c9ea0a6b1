/*
 * Which bodies are drawn whole, and where: parts left out, layers raised, everything beyond a cut dropped. Each mesh's
 * list of instances is filled anew when that changes; what the plane passes through is handed on to be cut.
 */
import type { InstancedMesh } from "three";
import type { Body, PackageModel } from "./package";
import { layerRise, type Shape } from "./placement";

/** Fields of joints at the low tier: rows this near the plane are drawn besides their rim, in mm. */
const NEAR_PLANE = 2.6;

export class Bodies {
  /** Bodies the plane passes through, those within other solids last. */
  crossing: Body[] = [];
  private shown = "";
  /** Places in a mesh's list of bodies to be drawn; filled anew for each mesh. */
  private readonly chosen: number[] = [];

  constructor(private readonly model: PackageModel) {}

  /** `plain`: at the low tier fields of joints are drawn at their rim only. True when any list changed. */
  update(shape: Shape, plain: boolean): boolean {
    const uncovered = shape.explode > 0.002 || shape.open > 0.002 || shape.plane !== null || shape.hidden.size > 0;
    const { plane, open, scale, hidden } = shape;
    const now = [uncovered, plain, open, scale, plane?.axis, plane?.at, [...hidden].sort()].join(" ");
    if (now === this.shown) return false;
    this.shown = now;
    this.crossing = [];
    for (const mesh of this.model.meshes) {
      mesh.visible = !(mesh.userData.covered && !uncovered) && !(mesh.userData.vias && open < 0.001);
      if (mesh.visible) this.fill(mesh, shape, plain);
    }
    if (plane)
      for (const body of this.model.inside)
        if (!hidden.has(body.part) && body.box.min[plane.axis] < plane.at && body.box.max[plane.axis] > plane.at)
          this.crossing.push(body);
    return true;
  }

  private fill(mesh: InstancedMesh, shape: Shape, plain: boolean): void {
    const { plane, hidden } = shape;
    const bodies = mesh.userData.bodies as readonly Body[];
    const rim = plain ? (mesh.userData.rim as number) : bodies.length;
    const cut = plane && bodies[0]?.group !== "base" ? plane : null;
    const factor = shape.scale * this.model.thicknessFactor;
    let count = 0;
    for (let i = 0; i < bodies.length; i++) {
      const body = bodies[i] as Body;
      if (hidden.size > 0 && hidden.has(body.part)) continue;
      // The writing says by how much thicknesses are drawn too tall, as long as it is true.
      if (body.factor !== null && Math.abs(body.factor - factor) > 0.01) continue;
      if (cut) {
        if (body.box.min[cut.axis] >= cut.at) continue;
        if (body.box.max[cut.axis] > cut.at) {
          if (!mesh.userData.vias) this.crossing.push(body);
          continue;
        }
        if (i >= rim && body.box.max[cut.axis] < cut.at - NEAR_PLANE) continue;
      } else if (i >= rim) break;
      this.chosen[count++] = i;
    }
    mesh.visible = count > 0;
    // Layers are raised anew every time; all other bodies only change places in the list.
    mesh.userData.order ??= new Int32Array(bodies.length);
    const order = mesh.userData.order as Int32Array;
    if (!mesh.userData.layered && mesh.userData.filled && count === mesh.count && this.inOrder(order, count)) return;
    mesh.userData.filled = true;
    const parts = mesh.userData.parts as string[];
    parts.length = count;
    for (let slot = 0; slot < count; slot++) {
      const index = this.chosen[slot] as number;
      const body = bodies[index] as Body;
      order[slot] = index;
      parts[slot] = body.part;
      body.matrix.toArray(mesh.instanceMatrix.array, slot * 16);
      if (body.layer !== null)
        mesh.instanceMatrix.array[slot * 16 + 13] = (body.matrix.elements[13] as number) + layerRise(body.layer, shape);
    }
    mesh.count = count;
    mesh.instanceMatrix.needsUpdate = true;
  }

  private inOrder(order: Int32Array, count: number): boolean {
    for (let slot = 0; slot < count; slot++) if (order[slot] !== this.chosen[slot]) return false;
    return true;
  }
}
