/*
 * What a state puts in the picture besides what its pose looks at: a group shown alone takes its place, an opened stack
 * draws the camera near or joins the rest, the frame of a cut is kept in view.
 */
import { lerp } from "../math/scalar";
import { type Box, boxUnion, type Vec3 } from "../math/view";
import type { PackageModel } from "./package";
import { boxPlaced, OPENING_STACK, partBox, type Shape } from "./placement";
import type { Subject } from "./poses";
import type { StandState } from "./types";

/** Room for the frame of a cut above the tops, in mm. */
const FRAME = 4;
/** Where the section pose expects a face, as a share of half the package's width. */
const FACE = 0.5;
/** How much of what lies behind it is kept in the picture, in mm. */
const BEHIND_FACE = 14;
/** Air around a group shown alone and beside an opened stack, in mm. */
const AIR = 1;

export function subjectOf(model: PackageModel, state: StandState, shape: Shape): Subject {
  if (state.isolate) {
    const boxes: Box[] = [];
    for (const part of model.parts.values()) {
      const own = part.group.startsWith("stacks_") ? "hbm" : part.group;
      const box = own === state.isolate ? partBox(part, { ...shape, plane: null }) : null;
      if (box) boxes.push(grown(box, AIR));
    }
    return boxes.length ? { instead: boxes.reduce(boxUnion) } : {};
  }
  const also: Box[] = [];
  const stack = model.parts.get(OPENING_STACK);
  const opened = stack && shape.open > 0 ? partBox(stack, { ...shape, plane: null, hidden: new Set() }) : null;
  if (opened && state.pose === "stack")
    return {
      instead: between(boxPlaced(model.bounds.stacks_right, "stacks_right", shape), grown(opened, AIR), shape.open),
    };
  if (opened && state.pose !== "die" && state.pose !== "grid") also.push(opened);
  const { plane } = shape;
  if (plane && (state.pose === "section" || state.pose === "hero")) {
    const tops = [...model.parts.values()].map((part) => partBox(part, shape)?.max[1] ?? 0);
    const board = boxPlaced(model.bounds.substrate, "substrate", { ...shape, explode: 0 });
    const min: [number, number, number] = [...board.min];
    const max: [number, number, number] = [board.max[0], Math.max(...tops) + FRAME, board.max[2]];
    // The section pose looks at where cuts are mostly made. It must not follow the plane, or dragging would not move it;
    // what lies far behind a face gets smaller with distance and needs no room.
    if (state.pose === "section") {
      max[plane.axis] *= FACE;
      min[plane.axis] = max[plane.axis] - BEHIND_FACE;
      return { instead: { min, max } };
    }
    also.push({ min, max });
  }
  return { also };
}

function grown({ min, max }: Box, by: number): Box {
  return { min: [min[0] - by, min[1], min[2] - by], max: [max[0] + by, max[1] + by, max[2] + by] };
}

function between(a: Box, b: Box, k: number): Box {
  const mix = (p: Vec3, q: Vec3): Vec3 => [lerp(p[0], q[0], k), lerp(p[1], q[1], k), lerp(p[2], q[2], k)];
  return { min: mix(a.min, b.min), max: mix(a.max, b.max) };
}
