/*
 * Where the eye is while it goes with one tile: the tile's own places around the moment, blended, so that the view
 * glides from memory to memory and still depends on the moment alone.
 */
import { clamp } from "../math/scalar";
import type { Box, Vec3 } from "../math/view";
import { blockStep, copyAt, whereIs } from "./flow-follow";
import { sideOf } from "./flow-kinds";
import type { FlowLayout } from "./flow-layout";
import type { Flow, Followed } from "./types";

/** Samples on either side of the moment, and the steps between them. */
const SAMPLES = 5;
const SPREAD = 0.09;
/** Half the width of what is kept in view around the tile, in mm. */
const AROUND = 8.5;

const place = new Float32Array(4);

/** The blended place of a tile, in mm on the closed package. */
export function followedPlace(layout: FlowLayout, { schedule, time }: Flow, followed: Followed): Vec3 {
  const sum: [number, number, number] = [0, 0, 0];
  let weights = 0;
  for (let i = -SAMPLES; i <= SAMPLES; i++) {
    const at = clamp(time + i * SPREAD, 0, schedule.num_steps);
    const weight = 1 + Math.cos((i / (SAMPLES + 1)) * Math.PI);
    placeAt(layout, { schedule, time: at }, followed);
    for (let axis = 0; axis < 3; axis++) sum[axis] = (sum[axis] as number) + weight * (place[axis] as number);
    weights += weight;
  }
  return [sum[0] / weights, sum[1] / weights, sum[2] / weights];
}

/** At rest a tile is at its place in HBM; a score block that never leaves the chip is at the SM that makes it. */
function placeAt(layout: FlowLayout, { schedule, time }: Flow, followed: Followed): void {
  const copy = copyAt(schedule, time, followed);
  if (copy) {
    layout.place(copy, place);
    return;
  }
  const onChip = schedule.algorithm !== "standard" && sideOf(followed.tensor) === "mn";
  const row = onChip ? (blockStep(schedule, followed)?.owner ?? 0) : -1;
  layout.place({ ...followed, leg: onChip ? "on_sm" : "hbm_to_l2", k: 0, row, scale: 1 }, place);
}

export function followedBox(at: Vec3): Box {
  return { min: [at[0] - AROUND, at[1] - 1, at[2] - AROUND], max: [at[0] + AROUND, at[1] + 1, at[2] + AROUND] };
}

/** Where the tile itself is at the moment, and in words. */
export function seenAt(layout: FlowLayout, flow: Flow, followed: Followed): { at: Vec3; words: string } {
  placeAt(layout, flow, followed);
  const at: Vec3 = [place[0] as number, (place[1] as number) + 0.2, place[2] as number];
  return { at, words: whereIs(flow.schedule, flow.time, followed).words };
}
