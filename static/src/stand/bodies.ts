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
    const parts: string[] = [];
    bodies.forEach((body, i) => {
      if (hidden.has(body.part)) return;
      // The writing says by how much thicknesses are drawn too tall, as long as it is true.
      if (body.factor !== null && Math.abs(body.factor - shape.scale * this.model.thicknessFactor) > 0.01) return;
      if (cut) {
        if (body.box.min[cut.axis] >= cut.at) return;
        if (body.box.max[cut.axis] > cut.at) {
          if (!mesh.userData.vias) this.crossing.push(body);
          return;
        }
        if (i >= rim && body.box.max[cut.axis] < cut.at - NEAR_PLANE) return;
      } else if (i >= rim) return;
      const at = parts.length * 16;
      body.matrix.toArray(mesh.instanceMatrix.array, at);
      if (body.layer !== null) {
        const height = body.matrix.elements[13] as number;
        mesh.instanceMatrix.array[at + 13] = height + layerRise(body.layer, shape);
      }
      parts.push(body.part);
    });
    mesh.userData.parts = parts;
    mesh.count = parts.length;
    mesh.visible = parts.length > 0;
    mesh.instanceMatrix.needsUpdate = true;
  }
}
