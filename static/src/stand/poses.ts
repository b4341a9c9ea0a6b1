/*
 * The authored views: where each pose looks from and what it must keep in the picture. Distances are not authored;
 * they follow from the shape of the window, so a pose is centred and whole at any aspect ratio.
 */
import { clamp, DEGREE } from "../math/scalar";
import {
  type Box,
  boxMoved,
  boxUnion,
  cornersOf,
  fitView,
  type Lens,
  type Margins,
  type Vec3,
  type View,
} from "../math/view";
import { explodeOffset, GROUPS, type GroupName } from "./explode";
import { boxPlaced, CLOSED, type Shape } from "./placement";
import type { PoseName } from "./types";

/** What a pose keeps in view: whole groups, or the neighbourhood of one part. */
type Focus = "all" | "hero" | "package" | "interposer" | "die" | "stack" | "grid";

interface Pose {
  azimuth: number;
  elevation: number;
  focus: Focus;
  /** How much higher the eye stands in a tall window, so that the object fills it. */
  rise: number;
}

const degrees = (azimuth: number, elevation: number, focus: Focus, rise = 0): Pose => ({
  azimuth: azimuth * DEGREE,
  elevation: elevation * DEGREE,
  focus,
  rise: rise * DEGREE,
});

/** 0 for a window as wide as 8:5 or wider, 1 for a square or tall one. */
function tallness(aspect: number): number {
  return clamp((1.6 - aspect) / 0.6, 0, 1);
}

export const POSES: Record<PoseName, Pose> = {
  hero: degrees(34, 27, "hero", 13),
  levels: degrees(16, 40, "interposer", 8),
  flow: degrees(7, 52, "interposer"),
  section: degrees(24, 9, "package"),
  die: degrees(9, 50, "die"),
  stack: degrees(34, 20, "stack", 6),
  exploded: degrees(30, 15, "all", 4),
  grid: degrees(8, 31, "grid", 5),
};

/** Vertical field of view: a long lens keeps edges nearly parallel, as in a catalogue photograph. */
export const FOV = 24 * DEGREE;

/** Assembled bounds in mm of what poses can focus on. */
export interface Bounds {
  groups: Record<GroupName, Box>;
  /** Corners of the plaque with the grid of score blocks. */
  plaque: readonly Vec3[];
}

const FOCUS_GROUPS: Record<Focus, readonly GroupName[]> = {
  all: GROUPS,
  hero: GROUPS,
  package: ["substrate", "interposer", "moulding", "gpu_die", "stacks_left", "stacks_right"],
  interposer: ["moulding", "gpu_die", "stacks_left", "stacks_right"],
  die: ["gpu_die"],
  stack: ["stacks_right"],
  grid: ["gpu_die", "stacks_left", "stacks_right"],
};

export function boundsAt(bounds: Bounds, groups: readonly GroupName[], explode: number): Box {
  return groups.map((name) => boxMoved(bounds.groups[name], explodeOffset(name, explode))).reduce(boxUnion);
}

/** What a state puts in the picture besides what its pose looks at, or instead of it; in the world. */
export interface Subject {
  instead?: Box;
  also?: readonly Box[];
}

const STACK_DIP = 5 * DEGREE;

/** The view of a pose for a window and a state of the lever. */
export function poseView(
  pose: PoseName,
  bounds: Bounds,
  explode: number,
  lens: Lens,
  free: Margins,
  grid: boolean,
  shape: Shape = { ...CLOSED, explode },
  subject: Subject = {},
): View {
  const { focus, rise } = POSES[pose];
  // A plane across x is looked at from the right as one across z is from the front.
  const azimuth =
    pose === "section" && shape.plane?.axis === 0 ? Math.PI / 2 - POSES[pose].azimuth : POSES[pose].azimuth;
  // Lower down one sees further in between the layers of an opened stack.
  const dip = pose === "stack" ? STACK_DIP * shape.open : 0;
  const elevation = POSES[pose].elevation - dip + rise * tallness(lens.aspect);
  const boxes = subject.instead
    ? [subject.instead]
    : FOCUS_GROUPS[focus].map((name) => boxPlaced(bounds.groups[name], name, shape));
  const points = [...boxes, ...(subject.also ?? [])].flatMap(cornersOf);
  if (grid) points.push(...bounds.plaque);
  return fitView(points, azimuth, elevation, lens, free);
}

/**
 * What the picture leaves free at its sides: a little air, and room for callouts where the host is wide enough. `clear`:
 * no callout may cover the object, because every part of it is named, as on a cut face.
 */
export function freeMargins(width: number, height: number, labels: boolean, clear = false): Margins {
  const [share, px] = clear ? [0.15, 150] : [0.08, 52];
  const callouts = labels && width >= 520 ? Math.min(share, px / width) : 0.03;
  const air = Math.min(0.05, 24 / height);
  return { left: callouts, right: callouts, top: air, bottom: air };
}
