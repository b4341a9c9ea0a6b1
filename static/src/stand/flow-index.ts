/*
 * A schedule made ready to be asked about any moment: moves sorted by step with their spans, running sums of bytes,
 * and the places where tiles stay between moves. Built once per schedule; asking afterwards costs only what is in
 * flight. Nothing here is drawn and nothing is timed by a clock.
 */
import { ownersOf } from "./flow-owners";
import { staysInL2, staysOnSm } from "./flow-stays";
import { moveWindow, type StepShape } from "./flow-timing";
import type { Compute, Move, Schedule, Tensor } from "./types";

/** A tile at rest in the L2 or on an SM, from one moment of the schedule to another. */
export interface Stay {
  tensor: Tensor;
  m: number;
  n: number;
  place: "l2" | "sm";
  /** Which SM is meant, by the row or column of blocks it owns; −1 in the L2. */
  row: number;
  from: number;
  to: number;
  /** Made here rather than arrived: it grows in. */
  grows: boolean;
  /** Used up here rather than carried off: it shrinks away. */
  fades: boolean;
}

/** Moves and score blocks in the order of their steps, with the span of each move. */
export interface Sorted {
  moves: readonly Move[];
  /** First move of each step, and one past the last. */
  moveStart: Int32Array;
  starts: Float64Array;
  ends: Float64Array;
  /** The SM each step works on, by the row or column of blocks it owns. */
  owners: Int32Array;
  computes: readonly Compute[];
  computeStart: Int32Array;
  /** How each step shares out its time; the same for all that work at once. */
  shapes: readonly StepShape[];
}

export interface FlowIndex {
  moves: readonly Move[];
  moveStart: Int32Array;
  starts: Float64Array;
  ends: Float64Array;
  /** The SM each move leads to or from. */
  moveOwners: Int32Array;
  computes: readonly Compute[];
  computeStart: Int32Array;
  shapes: readonly StepShape[];
  /** The SMs at work in each step. */
  busy: readonly (readonly number[])[];
  /** Bytes by line and direction before each step: HBM read, HBM written, L2 to SM, SM to L2. */
  sums: Float64Array;
  stays: readonly Stay[];
  /** Which stays touch each step, as lists laid end to end. */
  stayStart: Int32Array;
  stayItems: Int32Array;
  /** Moment from which each score block lies in HBM as S or dP, as P, as dS; Infinity if it never does. */
  stored: readonly [Float64Array, Float64Array, Float64Array];
  /** 1 where a score block is ever computed: under a causal mask some are not. */
  exists: Uint8Array;
}

const cache = new WeakMap<Schedule, FlowIndex>();

export function flowIndex(schedule: Schedule): FlowIndex {
  const known = cache.get(schedule);
  if (known) return known;
  const made = build(schedule);
  cache.set(schedule, made);
  return made;
}

/** Which of the four running sums a move adds to. */
export function lineOf(move: Move): 0 | 1 | 2 | 3 {
  if (move.source === "hbm") return 0;
  if (move.target === "hbm") return 1;
  return move.target === "sm" ? 2 : 3;
}

const byStep = (a: { step: number }, b: { step: number }): number => a.step - b.step;

function offsets(items: readonly { step: number }[], steps: number): Int32Array {
  const start = new Int32Array(steps + 1);
  for (const item of items) {
    if (item.step < 0 || item.step >= steps) throw new RangeError(`step ${item.step} lies outside 0…${steps - 1}`);
    start[item.step + 1] = (start[item.step + 1] as number) + 1;
  }
  for (let i = 0; i < steps; i++) start[i + 1] = (start[i + 1] as number) + (start[i] as number);
  return start;
}

function shapesOf(schedule: Schedule): StepShape[] {
  const shapes = Array.from({ length: schedule.num_steps }, () => ({
    fromHbm: false,
    reads: false,
    computes: false,
    writes: false,
  }));
  for (const { step, source, target } of schedule.moves) {
    const shape = shapes[step];
    if (!shape) continue;
    shape.fromHbm ||= source === "hbm";
    shape.reads ||= target === "sm" || source === "hbm";
    shape.writes ||= source === "sm" || target === "hbm";
  }
  for (const { step } of schedule.computes) if (shapes[step]) shapes[step].computes = true;
  return shapes;
}

function sorted(
  raw: { moves: readonly Move[]; computes: readonly Compute[] },
  shapes: readonly StepShape[],
  owner: number | null,
  schedule: Schedule,
): Sorted {
  const steps = schedule.num_steps;
  const moves = [...raw.moves].sort(byStep);
  const computes = [...raw.computes].sort(byStep);
  const moveStart = offsets(moves, steps);
  const computeStart = offsets(computes, steps);
  const starts = new Float64Array(moves.length);
  const ends = new Float64Array(moves.length);
  const leaving = leavingOrder(moves);
  moves.forEach((move, i) => {
    const { order, count } = leaving[i] as Leaving;
    const span = moveWindow(move, shapes[move.step] as StepShape, order, count);
    starts[i] = move.step + span.start;
    ends[i] = move.step + span.end;
  });
  const part = { moves, moveStart, starts, ends, computes, computeStart, shapes };
  const owners = owner === null ? ownersOf(part, schedule) : new Int32Array(steps).fill(owner);
  return { ...part, owners };
}

function build(schedule: Schedule): FlowIndex {
  const steps = schedule.num_steps;
  const shapes = shapesOf(schedule);
  const strands = schedule.strands?.map((strand) => sorted(strand, shapes, strand.owner, schedule)) ?? [
    sorted(schedule, shapes, null, schedule),
  ];
  const all = strands
    .flatMap((strand) =>
      strand.moves.map((move, i) => ({
        move,
        step: move.step,
        start: strand.starts[i] as number,
        end: strand.ends[i] as number,
        owner: strand.owners[move.step] as number,
      })),
    )
    .sort(byStep);
  const moves = all.map(({ move }) => move);
  const computes = strands.flatMap((strand) => strand.computes).sort(byStep);
  const starts = Float64Array.from(all, ({ start }) => start);
  const ends = Float64Array.from(all, ({ end }) => end);
  const moveStart = offsets(moves, steps);
  const stays = [...staysInL2({ moves, starts, ends }), ...strands.flatMap((strand) => staysOnSm(strand))];
  return {
    moves,
    moveStart,
    starts,
    ends,
    moveOwners: Int32Array.from(all, ({ owner }) => owner),
    computes,
    computeStart: offsets(computes, steps),
    shapes,
    busy: busyOf(strands, steps),
    sums: sumsOf(moves, steps),
    stays,
    ...bucket(stays, steps),
    stored: storedFrom(schedule, moves, ends),
    exists: existing(schedule),
  };
}

function busyOf(strands: readonly Sorted[], steps: number): number[][] {
  const busy: number[][] = Array.from({ length: steps }, () => []);
  for (const { moveStart, computeStart, owners } of strands)
    for (let step = 0; step < steps; step++) {
      const idle = moveStart[step] === moveStart[step + 1] && computeStart[step] === computeStart[step + 1];
      if (!idle || strands.length === 1) busy[step]?.push(owners[step] as number);
    }
  return busy;
}

function sumsOf(moves: readonly Move[], steps: number): Float64Array {
  const sums = new Float64Array((steps + 1) * 4);
  for (const move of moves) {
    const at = (move.step + 1) * 4 + lineOf(move);
    sums[at] = (sums[at] as number) + move.bytes;
  }
  for (let i = 4; i < sums.length; i++) sums[i] = (sums[i] as number) + (sums[i - 4] as number);
  return sums;
}

const KEPT_AS: Partial<Record<Tensor, 0 | 1 | 2>> = { s: 0, dp: 0, p: 1, ds: 2 };

/** In the backward pass of the standard way P lies there from the start: the forward pass kept it. */
function storedFrom(schedule: Schedule, moves: readonly Move[], ends: Float64Array): FlowIndex["stored"] {
  const blocks = schedule.blocks_m * schedule.blocks_n;
  const kept = schedule.algorithm === "standard" && schedule.direction === "backward";
  const never = () => new Float64Array(blocks).fill(Number.POSITIVE_INFINITY);
  const stored = [never(), kept ? new Float64Array(blocks).fill(Number.NEGATIVE_INFINITY) : never(), never()] as const;
  moves.forEach(({ target, tensor, m_block, n_block }, i) => {
    const as = KEPT_AS[tensor];
    if (target !== "hbm" || as === undefined || m_block === null || n_block === null) return;
    const cell = m_block * schedule.blocks_n + n_block;
    stored[as][cell] = Math.min(stored[as][cell] as number, ends[i] as number);
  });
  return stored;
}

function existing(schedule: Schedule): Uint8Array {
  const exists = new Uint8Array(schedule.blocks_m * schedule.blocks_n);
  for (const block of schedule.computes) exists[block.m_block * schedule.blocks_n + block.n_block] = 1;
  return exists;
}

interface Leaving {
  order: number;
  count: number;
}

/** For each move, its place among the moves of the same step, matrix and crossing. */
function leavingOrder(moves: readonly Move[]): Leaving[] {
  const counts = new Map<string, number>();
  const keys = moves.map((move) => `${move.step} ${move.tensor} ${move.source} ${move.target}`);
  const orders = keys.map((key) => {
    const order = counts.get(key) ?? 0;
    counts.set(key, order + 1);
    return order;
  });
  return keys.map((key, i) => ({ order: orders[i] as number, count: counts.get(key) as number }));
}

function bucket(stays: readonly Stay[], steps: number): { stayStart: Int32Array; stayItems: Int32Array } {
  const stayStart = new Int32Array(steps + 1);
  const last = (stay: Stay) => Math.min(steps - 1, Math.floor(stay.to));
  for (const stay of stays)
    for (let step = Math.floor(stay.from); step <= last(stay); step++)
      stayStart[step + 1] = (stayStart[step + 1] as number) + 1;
  for (let i = 0; i < steps; i++) stayStart[i + 1] = (stayStart[i + 1] as number) + (stayStart[i] as number);
  const next = stayStart.slice();
  const stayItems = new Int32Array(stayStart[steps] as number);
  stays.forEach((stay, index) => {
    for (let step = Math.floor(stay.from); step <= last(stay); step++) {
      stayItems[next[step] as number] = index;
      next[step] = (next[step] as number) + 1;
    }
  });
  return { stayStart, stayItems };
}
