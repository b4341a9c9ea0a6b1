/*
 * How far each group stands from its place when the package is taken apart: one number, 0…1, to offsets in mm.
 * Upper groups start first and never fall behind lower ones, so nothing passes through anything.
 */
import { easeInOut, progress } from "../math/scalar";
import type { Vec3 } from "../math/view";

/** The five pieces, the stacks split by side because they also move apart, the moulding lifted off its interposer. */
export type GroupName = "base" | "substrate" | "interposer" | "moulding" | "gpu_die" | "stacks_left" | "stacks_right";

interface Authored {
  /** Where the group ends up, in mm from its place. */
  offset: Vec3;
  /** Share of the lever at which it starts and stops moving. */
  start: number;
  end: number;
}

const AUTHORED: Record<GroupName, Authored> = {
  base: { offset: [0, 0, 0], start: 0, end: 1 },
  substrate: { offset: [0, 17, 0], start: 0.45, end: 1 },
  interposer: { offset: [0, 36, 0], start: 0.32, end: 0.95 },
  moulding: { offset: [0, 49, 0], start: 0.22, end: 0.9 },
  gpu_die: { offset: [0, 67, 0], start: 0.1, end: 0.8 },
  stacks_left: { offset: [-13, 76, 0], start: 0, end: 0.7 },
  stacks_right: { offset: [13, 76, 0], start: 0, end: 0.7 },
};

export const GROUPS = Object.keys(AUTHORED) as GroupName[];

/** Offset of a group in mm at `explode` (0 assembled … 1 fully apart). Sideways motion waits until the group is clear. */
export function explodeOffset(group: GroupName, explode: number): Vec3 {
  const { offset, start, end } = AUTHORED[group];
  const rise = easeInOut(progress(explode, start, end));
  const aside = easeInOut(progress(explode, start + (end - start) * 0.45, end));
  return [offset[0] * aside, offset[1] * rise, offset[2] * aside];
}
