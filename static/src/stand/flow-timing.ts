/*
 * When, inside its step, each tile moves. A step reads top down: out of HBM into the L2, from the L2 into an SM,
 * a moment of work, and back the same way. The windows are shares of a step, so a schedule has no clock of its own.
 */
import type { Move, Tensor } from "./types";

export interface Window {
  start: number;
  end: number;
}

/** What a step contains decides how its time is shared out. */
export interface StepShape {
  fromHbm: boolean;
  reads: boolean;
  computes: boolean;
  writes: boolean;
}

/** Tiles that leave together are let go one after the other, so that each can be seen. */
const STAGGER: Partial<Record<Tensor, number>> = {
  k: 0.02,
  v: 0.06,
  s: 0.02,
  p: 0.02,
  ds: 0.02,
  o: 0.04,
  o_acc: 0.04,
  do: 0.03,
  dq: 0.05,
  dq_acc: 0.05,
};
const LATE = 0.06;

/** A row's tiles that leave in one step share this part of the way out between their starts. */
const FAN = 0.55;

/** The latest moment of a step at which anything still moves. */
const LAST = 0.98;

/** The span of work on the SM within a step of this shape. */
export function computeWindow(shape: StepShape): Window {
  return { start: shape.reads ? 0.56 : 0.06, end: shape.writes ? 0.72 : LAST };
}

/**
 * The span in which one tile crosses one line; every end lies inside the step. `order` of `count`: its place among the
 * tiles of the same matrix that leave an SM in the same step.
 */
export function moveWindow(move: Move, shape: StepShape, order: number, count: number): Window {
  if (move.target === "sm" || move.source === "hbm") {
    const wait = move.tensor === "q" ? 0 : (STAGGER[move.tensor] ?? LATE);
    const end = shape.computes || shape.writes ? 0.5 : 0.9;
    const middle = shape.fromHbm ? end * 0.55 : 0;
    return move.source === "hbm" ? { start: wait, end: middle + wait } : { start: middle + wait, end: end + wait };
  }
  const start = shape.computes ? 0.72 : shape.reads ? 0.56 : 0.04;
  const own = count > 1 ? 1 - FAN : 1;
  const wait = count > 1 ? ((LAST - start) * FAN * order) / (count - 1) : 0;
  const half = ((LAST - start) * own) / 2;
  return move.source === "sm"
    ? { start: start + wait, end: start + wait + half }
    : { start: start + wait + half, end: start + wait + 2 * half };
}
