/*
 * A schedule made ready to be asked about any moment: moves sorted by step with their spans, running sums of bytes,
 * and the places where tiles stay between moves. Built once per schedule; asking afterwards costs only what is in
 * flight. Nothing here is drawn and nothing is timed by a clock.
 */
import { staysOf } from "./flow-stays";
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

export interface FlowIndex {
  moves: readonly Move[];
  /** First move of each step, and one past the last. */
  moveStart: Int32Array;
  starts: Float64Array;
  ends: Float64Array;
  /** The SM each step works on, by the row or column of blocks it owns. */
  owners: Int32Array;
  computes: readonly Compute[];
  computeStart: Int32Array;
  shapes: readonly StepShape[];
  /** Bytes by line and direction before each step: HBM read, HBM written, L2 to SM, SM to L2. */
  sums: Float64Array;
  stays: readonly Stay[];
  /** Which stays touch each step, as lists laid end to end. */
  stayStart: Int32Array;
  stayItems: Int32Array;
  /** Moment at which each score block, as S and as P, has arrived in HBM; Infinity if it never does. */
  storedS: Float64Array;
  storedP: Float64Array;
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

function offsets(items: readonly { step: number }[], steps: number): Int32Array {
  const start = new Int32Array(steps + 1);
  for (const item of items) {
    if (item.step < 0 || item.step >= steps) throw new RangeError(`step ${item.step} lies outside 0…${steps - 1}`);
    start[item.step + 1] = (start[item.step + 1] as number) + 1;
  }
  for (let i = 0; i < steps; i++) start[i + 1] = (start[i + 1] as number) + (start[i] as number);
  return start;
}

function build(schedule: Schedule): FlowIndex {
  const steps = schedule.num_steps;
  const moves = [...schedule.moves].sort((a, b) => a.step - b.step);
  const computes = [...schedule.computes].sort((a, b) => a.step - b.step);
  const moveStart = offsets(moves, steps);
  const computeStart = offsets(computes, steps);
  const shapes: StepShape[] = [];
  for (let step = 0; step < steps; step++) {
    const here = moves.slice(moveStart[step], moveStart[step + 1]);
    shapes.push({
      fromHbm: here.some((move) => move.source === "hbm"),
      reads: here.some((move) => move.target === "sm" || move.source === "hbm"),
      computes: (computeStart[step] as number) < (computeStart[step + 1] as number),
      writes: here.some((move) => move.source === "sm" || move.target === "hbm"),
    });
  }
  const starts = new Float64Array(moves.length);
  const ends = new Float64Array(moves.length);
  const owners = ownersOf(moves, moveStart, computes, computeStart, steps);
  const sums = new Float64Array((steps + 1) * 4);
  const blocks = schedule.blocks_m * schedule.blocks_n;
  const storedS = new Float64Array(blocks).fill(Number.POSITIVE_INFINITY);
  const storedP = new Float64Array(blocks).fill(Number.POSITIVE_INFINITY);
  const leaving = leavingOrder(moves);
  moves.forEach((move, i) => {
    const { order, count } = leaving[i] as Leaving;
    const span = moveWindow(move, shapes[move.step] as StepShape, order, count);
    starts[i] = move.step + span.start;
    ends[i] = move.step + span.end;
    const at = (move.step + 1) * 4 + lineOf(move);
    sums[at] = (sums[at] as number) + move.bytes;
    if (move.target === "hbm" && move.m_block !== null && move.n_block !== null) {
      const cell = move.m_block * schedule.blocks_n + move.n_block;
      if (move.tensor === "s" || move.tensor === "dp")
        storedS[cell] = Math.min(storedS[cell] as number, ends[i] as number);
      if (move.tensor === "p" || move.tensor === "ds")
        storedP[cell] = Math.min(storedP[cell] as number, ends[i] as number);
    }
  });
  for (let i = 4; i < sums.length; i++) sums[i] = (sums[i] as number) + (sums[i - 4] as number);
  const exists = new Uint8Array(blocks);
  for (const block of computes) exists[block.m_block * schedule.blocks_n + block.n_block] = 1;
  const stays = staysOf({ moves, moveStart, starts, ends, owners, computes, computeStart, shapes });
  const { stayStart, stayItems } = bucket(stays, steps);
  return {
    moves,
    moveStart,
    starts,
    ends,
    owners,
    computes,
    computeStart,
    shapes,
    sums,
    stays,
    stayStart,
    stayItems,
    storedS,
    storedP,
    exists,
  };
}

/**
 * Which SM a step runs on. Where neighbouring steps share a row of blocks, that row has an SM of its own (version 2 and
 * the standard way); where they share a column, the column has (the order of version 1 and of most backward passes).
 */
function ownersOf(
  moves: readonly Move[],
  moveStart: Int32Array,
  computes: readonly Compute[],
  computeStart: Int32Array,
  steps: number,
): Int32Array {
  const owners = new Int32Array(steps);
  const blockAt = (step: number) => (step >= 0 && step < steps ? computes[computeStart[step] as number] : undefined);
  for (let step = 0; step < steps; step++) {
    const block = blockAt(step);
    if (!block || block.step !== step) {
      owners[step] = moves[moveStart[step] as number]?.m_block ?? 0;
      continue;
    }
    owners[step] = block.m_block;
    for (const neighbour of [blockAt(step + 1), blockAt(step - 1)]) {
      if (!neighbour || neighbour.m_block === block.m_block) {
        if (neighbour) break;
        continue;
      }
      if (neighbour.n_block === block.n_block) {
        owners[step] = block.n_block;
        break;
      }
    }
  }
  return owners;
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
