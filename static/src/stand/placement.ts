/*
 * Where things stand: one description of how the package is shown (apart, thinned, opened, cut, parts left out) and the
 * boxes of parts under it. Camera, callouts, edges, picking and tiles all read this, so none of them can disagree. Pure.
 * A cut belongs to the parts: it is made on the closed package, and the parts carry their cut faces when they move.
 */
import { clamp, lerp } from "../math/scalar";
import { type Box, boxMoved, boxUnion, type Vec3 } from "../math/view";
import { explodeOffset, type GroupName } from "./explode";
import type { PackagePart } from "./package";
import type { Cut } from "./types";

/** A plane across the closed package; what lies beyond it, towards +x or +z, is taken away. */
export interface Plane {
  axis: 0 | 2;
  /** mm */
  at: number;
}

export interface Shape {
  /** 0 assembled … 1 apart. */
  explode: number;
  /** Height of everything above the base, relative to what the model draws. */
  scale: number;
  /** 0 closed … 1 apart: the layers of the stack that can be opened. */
  open: number;
  plane: Plane | null;
  /** Parts left out of the picture. */
  hidden: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();
export const CLOSED: Shape = { explode: 0, scale: 1, open: 0, plane: null, hidden: NONE };

/** The stack that opens into its layers: the site that never serves data. */
export const OPENING_STACK = "hbm_stack_5";
/** How far the whole opened stack is lifted out of the moulding, and the gap from layer to layer, in mm of the picture. */
const LIFT = 3.6;
const LAYER_GAP = 1.5;

/** `thickness`: 1 as drawn, `factor` times too tall … 0 true. */
export function scaleOf(thickness: number, factor: number): number {
  return lerp(1 / factor, 1, clamp(thickness, 0, 1));
}

/** The plane of a cut; `half`: half the package's width on either axis in mm. */
export function planeOf(cut: Cut | null, half: Vec3): Plane | null {
  if (!cut) return null;
  const axis = cut.axis === "x" ? 0 : 2;
  return { axis, at: clamp(cut.at, -1, 1) * half[axis] };
}

/** The base is furniture: it is neither thinned nor cut. */
export function scaleOfGroup(group: GroupName, shape: Shape): number {
  return group === "base" ? 1 : shape.scale;
}

/** How far a layer is raised, in mm of its group's frame: the gap is the same at every thickness. */
export function layerRise(layer: number | null, shape: Shape): number {
  return layer === null ? 0 : ((LIFT + LAYER_GAP * layer) * shape.open) / shape.scale;
}

/** What the plane leaves of a box of the closed package; null when nothing. */
export function boxCut(box: Box, plane: Plane | null): Box | null {
  if (!plane || box.max[plane.axis] <= plane.at) return box;
  if (box.min[plane.axis] >= plane.at) return null;
  const max: [number, number, number] = [...box.max];
  max[plane.axis] = plane.at;
  return { min: box.min, max };
}

/** From a group's frame to the world. */
export function boxPlaced(box: Box, group: GroupName, shape: Shape): Box {
  const scale = scaleOfGroup(group, shape);
  return boxMoved(
    { min: [box.min[0], box.min[1] * scale, box.min[2]], max: [box.max[0], box.max[1] * scale, box.max[2]] },
    explodeOffset(group, shape.explode),
  );
}

/** A part's bodies in its group's frame as they are shown, layers raised and cut off at the plane. */
export function bodiesOf(part: PackagePart, shape: Shape): Box[] {
  if (shape.hidden.has(part.id)) return [];
  if (part.group === "base") return part.boxes;
  const { layers } = part;
  if (!shape.plane && !(layers && shape.open > 0)) return part.boxes;
  return part.boxes.flatMap((box, i) => {
    const left = boxCut(box, shape.plane);
    if (!left) return [];
    return layers ? boxMoved(left, [0, layerRise(layers[i] as number, shape), 0]) : left;
  });
}

/** A part's bounds in its group's frame; null when nothing of it is shown. */
export function boundsOf(part: PackagePart, shape: Shape): Box | null {
  if (shape.hidden.has(part.id)) return null;
  if (part.layers && shape.open > 0) {
    const bodies = bodiesOf(part, shape);
    return bodies.length ? bodies.reduce(boxUnion) : null;
  }
  return part.group === "base" ? part.bounds : boxCut(part.bounds, shape.plane);
}

/** A part's bounds in the world; null when nothing of it is shown. */
export function partBox(part: PackagePart, shape: Shape): Box | null {
  const box = boundsOf(part, shape);
  return box && boxPlaced(box, part.group, shape);
}

export function middleOf({ min, max }: Box): Vec3 {
  return [(min[0] + max[0]) / 2, (min[1] + max[1]) / 2, (min[2] + max[2]) / 2];
}
