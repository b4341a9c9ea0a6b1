/*
 * From a place on the canvas to the part under it: the ray of the camera against the parts' boxes.
 */
import type { Vec3 } from "../math/view";
import { explodeOffset } from "./explode";
import type { PackageModel } from "./package";
import { type PickTarget, pickPart } from "./picking";
import { bodiesOf, boundsOf, type Shape, scaleOfGroup } from "./placement";
import { FOV } from "./poses";
import type { Stage } from "./stage";

/** Parts with more bodies than this are pointed at as one block. */
const MANY_BODIES = 500;

export class Pointer {
  private targets: PickTarget[] = [];
  private madeFor: Shape | null = null;

  constructor(
    private readonly model: PackageModel,
    private readonly stage: Stage,
  ) {}

  /** The part at a place in px from the canvas' top left, in the picture last drawn. */
  partAt(at: { x: number; y: number }, shape: Shape): string | null {
    if (this.madeFor !== shape) this.targets = pickTargets(this.model, shape);
    this.madeFor = shape;
    const { from, along } = this.ray(at);
    return pickPart(
      from,
      along,
      this.targets,
      (group) => explodeOffset(group, shape.explode),
      (group) => scaleOfGroup(group, shape),
    );
  }

  /** The ray of the camera through a place in px from the canvas' top left. */
  ray(at: { x: number; y: number }): { from: Vec3; along: Vec3 } {
    const { camera, width, height } = this.stage;
    const slope = Math.tan(FOV / 2);
    const x = ((at.x / width) * 2 - 1) * slope * (width / height);
    const y = (1 - (at.y / height) * 2) * slope;
    const e = camera.matrixWorld.elements;
    const axis = (i: number): number => (e[i] as number) * x + (e[4 + i] as number) * y - (e[8 + i] as number);
    const along: Vec3 = [axis(0), axis(1), axis(2)];
    return { from: [camera.position.x, camera.position.y, camera.position.z], along };
  }
}

/** Small and upper parts first: where two boxes are met at once, the one listed first is meant. */
function pickTargets(model: PackageModel, shape: Shape): PickTarget[] {
  const order = (id: string) => (id === "base" || id === "moulding" ? 2 : id === "substrate" ? 1 : 0);
  const flush = [...model.parts.values()].filter(({ id }) => id === "gpu_die" || id.startsWith("hbm_stack_"));
  return [...model.parts.values()]
    .sort((a, b) => order(a.id) - order(b.id))
    .flatMap((part) => {
      const whole = boundsOf(part, shape);
      if (!whole) return [];
      return {
        id: part.id,
        group: part.group,
        boxes: part.id === "base" || part.boxes.length > MANY_BODIES ? [whole] : bodiesOf(part, shape),
        ...(part.id === "moulding" ? { openings: flush.map(({ bounds }) => bounds) } : {}),
      };
    });
}
