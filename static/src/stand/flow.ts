/*
 * Any moment of a schedule as plain data: which tiles are where, what has crossed each line, which score block is
 * being worked on. Pure functions of (schedule, time), so that a moment can be played to, jumped to, or photographed.
 * `time` counts steps, 0 … num_steps. A move counts once its tile has arrived.
 */
import { easeInOut, progress } from "../math/scalar";
import { flowIndex, lineOf } from "./flow-index";
import { computeWindow, type StepShape } from "./flow-timing";
import type { Compute, Move, Schedule, Tensor } from "./types";

/** Bytes that have crossed one line: `read` towards the SMs, `written` away from them. */
export interface LineTally {
  read_bytes: number;
  written_bytes: number;
}

export interface Tally {
  hbm: LineTally;
  l2_to_sm: LineTally;
}

export type Leg = "hbm_to_l2" | "l2_to_hbm" | "l2_to_sm" | "sm_to_l2" | "in_l2" | "on_sm";

/** One tile to draw. `m`, `n`: block indices, −1 where the tile has none. */
export interface FlowTile {
  tensor: Tensor;
  m: number;
  n: number;
  leg: Leg;
  /** How far along the lane in the direction of travel, 0…1, eased; 0 for a tile at rest. */
  k: number;
  /** Which SM the lane leads to, by the row or column of blocks it owns; −1 where that does not matter. */
  row: number;
  /** 0…1; below 1 while a tile made or used up on the SM grows or shrinks. */
  scale: number;
}

/** A list that is filled again for every frame without allocating. */
export interface FlowTiles {
  count: number;
  items: FlowTile[];
}

/** How long, in steps, a tile takes to grow in or shrink away. */
const RAMP = 0.1;

export function tallyAt(schedule: Schedule, time: number): Tally {
  const flow = flowIndex(schedule);
  const step = Math.max(0, Math.min(schedule.num_steps, Math.floor(time)));
  const sums = [0, 1, 2, 3].map((line) => flow.sums[step * 4 + line] as number);
  if (step < schedule.num_steps)
    for (let i = flow.moveStart[step] as number; i < (flow.moveStart[step + 1] as number); i++)
      if (time >= (flow.ends[i] as number)) {
        const move = flow.moves[i] as Move;
        sums[lineOf(move)] = (sums[lineOf(move)] as number) + move.bytes;
      }
  const [hbmRead, hbmWritten, smRead, smWritten] = sums as [number, number, number, number];
  return {
    hbm: { read_bytes: hbmRead, written_bytes: hbmWritten },
    l2_to_sm: { read_bytes: smRead, written_bytes: smWritten },
  };
}

function add(out: FlowTiles): FlowTile {
  const known = out.items[out.count];
  out.count++;
  if (known) return known;
  const made: FlowTile = { tensor: "q", m: -1, n: -1, leg: "in_l2", k: 0, row: -1, scale: 1 };
  out.items.push(made);
  return made;
}

function legOf(move: Move): Leg {
  if (move.source === "hbm") return "hbm_to_l2";
  if (move.target === "hbm") return "l2_to_hbm";
  return move.target === "sm" ? "l2_to_sm" : "sm_to_l2";
}

/** Every tile in flight or at rest between its moves. `out` is reused when given. */
export function tilesAt(schedule: Schedule, time: number, out: FlowTiles = { count: 0, items: [] }): FlowTiles {
  out.count = 0;
  if (time < 0 || time >= schedule.num_steps) return out;
  const flow = flowIndex(schedule);
  const step = Math.floor(time);
  for (let i = flow.moveStart[step] as number; i < (flow.moveStart[step + 1] as number); i++) {
    const start = flow.starts[i] as number;
    const end = flow.ends[i] as number;
    if (time < start || time >= end) continue;
    const move = flow.moves[i] as Move;
    const tile = add(out);
    tile.tensor = move.tensor;
    tile.m = move.m_block ?? -1;
    tile.n = move.n_block ?? -1;
    tile.leg = legOf(move);
    tile.k = easeInOut(progress(time, start, end));
    tile.row = flow.moveOwners[i] as number;
    tile.scale = 1;
  }
  for (let i = flow.stayStart[step] as number; i < (flow.stayStart[step + 1] as number); i++) {
    const stay = flow.stays[flow.stayItems[i] as number] as (typeof flow.stays)[number];
    if (time < stay.from || time >= stay.to) continue;
    const tile = add(out);
    tile.tensor = stay.tensor;
    tile.m = stay.m;
    tile.n = stay.n;
    tile.leg = stay.place === "l2" ? "in_l2" : "on_sm";
    tile.k = 0;
    tile.row = stay.row;
    const grown = stay.grows ? progress(time, stay.from, stay.from + RAMP) : 1;
    const left = stay.fades ? progress(stay.to - time, 0, RAMP) : 1;
    tile.scale = easeInOut(Math.min(grown, left));
  }
  return out;
}

/** The score blocks being worked on, from the moment their tiles are there; none between two of them. */
export function computesAt(schedule: Schedule, time: number): readonly Compute[] {
  if (time < 0 || time >= schedule.num_steps) return [];
  const flow = flowIndex(schedule);
  const step = Math.floor(time);
  return flow.computes.slice(flow.computeStart[step], flow.computeStart[step + 1]);
}

/** The SMs at work, by the rows or columns of blocks they own; none before and after. */
export function ownersAt(schedule: Schedule, time: number): readonly number[] {
  if (time < 0 || time >= schedule.num_steps) return [];
  return flowIndex(schedule).busy[Math.floor(time)] ?? [];
}

/** Matrices that wait in the L2 for more than one step, in the order they first come. */
export function waitingKinds(schedule: Schedule): Tensor[] {
  const kinds = new Set<Tensor>();
  for (const stay of flowIndex(schedule).stays)
    if (stay.place === "l2" && Math.floor(stay.to) > Math.floor(stay.from)) kinds.add(stay.tensor);
  return [...kinds];
}

/** 0…1: how bright the block being worked on is lit at this moment. */
export function workAt(schedule: Schedule, time: number): number {
  if (time < 0 || time >= schedule.num_steps) return 0;
  const step = Math.floor(time);
  const span = computeWindow(flowIndex(schedule).shapes[step] as StepShape);
  return Math.min(progress(time - step, span.start - 0.1, span.start), progress(step + 1 - time, 0, 0.02));
}

/** What of a score block lies in HBM at this moment: S or dP, P, dS. */
export function keptAt(schedule: Schedule, time: number, m: number, n: number, as: 0 | 1 | 2): boolean {
  return time >= (flowIndex(schedule).stored[as][m * schedule.blocks_n + n] as number);
}

/** How much of a score block lies in HBM at this moment: 0 nothing, 1 scores, 2 probabilities. */
export function storedAt(schedule: Schedule, time: number, m: number, n: number): 0 | 1 | 2 {
  if (keptAt(schedule, time, m, n, 1)) return 2;
  return keptAt(schedule, time, m, n, 0) ? 1 : 0;
}

/** Whether a score block is worked on at all; under a causal mask those past the diagonal are not. */
export function blockExists(schedule: Schedule, m: number, n: number): boolean {
  return flowIndex(schedule).exists[m * schedule.blocks_n + n] === 1;
}
