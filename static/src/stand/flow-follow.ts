/*
 * One tile followed through the memories: which of the tiles of a moment it is, and in words where it is. Pure; the
 * camera and the caption are made from it.
 */
import { type FlowTile, type FlowTiles, type Leg, tilesAt } from "./flow";
import { flowIndex } from "./flow-index";
import { sideOf } from "./flow-kinds";
import { isSame } from "./tile-names";
import type { Followed, Schedule } from "./types";

/** Which copy the eye goes with, where there are several. */
const RANK: Record<Leg, number> = { hbm_to_l2: 0, l2_to_sm: 1, sm_to_l2: 2, l2_to_hbm: 3, on_sm: 4, in_l2: 5 };

export interface Whereabouts {
  /** The copy the eye goes with; null while it lies in HBM or nowhere. */
  tile: FlowTile | null;
  words: string;
}

const list: FlowTiles = { count: 0, items: [] };

/** The copy the eye goes with; null while the tile lies in HBM or nowhere. */
export function copyAt(schedule: Schedule, time: number, followed: Followed): FlowTile | null {
  return copiesAt(schedule, time, followed).best;
}

function copiesAt(schedule: Schedule, time: number, followed: Followed): { best: FlowTile | null; copies: number } {
  tilesAt(schedule, time, list);
  let best: FlowTile | null = null;
  let copies = 0;
  for (let i = 0; i < list.count; i++) {
    const tile = list.items[i] as FlowTile;
    if (!isSame(tile, followed)) continue;
    if (!best || RANK[tile.leg] < RANK[best.leg]) [best, copies] = [tile, 0];
    if (tile.leg === best.leg) copies++;
  }
  return { best: best && { ...best }, copies };
}

/** When and on which SM a score block is worked on. */
export function blockStep(schedule: Schedule, { m, n }: Followed): { step: number; owner: number } | null {
  const flow = flowIndex(schedule);
  const block = flow.computes.find(({ m_block, n_block }) => m_block === m && n_block === n);
  if (!block) return null;
  const strand = schedule.strands?.find(({ computes }) => computes.includes(block));
  return { step: block.step, owner: strand?.owner ?? flow.busy[block.step]?.[0] ?? 0 };
}

export function whereIs(schedule: Schedule, time: number, followed: Followed): Whereabouts {
  const { best, copies } = copiesAt(schedule, time, followed);
  if (best) return { tile: best, words: wordsFor(best.leg, copies) };
  return { tile: null, words: atRest(schedule, time, followed) };
}

function wordsFor(leg: Leg, copies: number): string {
  const sms = copies > 1 ? `${copies} SMs` : "an SM";
  switch (leg) {
    case "hbm_to_l2":
      return "on its way from HBM into the L2";
    case "l2_to_sm":
      return `on its way from the L2 to ${sms}`;
    case "sm_to_l2":
      return `on its way from ${sms} to the L2`;
    case "l2_to_hbm":
      return "on its way from the L2 back to HBM";
    case "on_sm":
      return `on ${sms}`;
    case "in_l2":
      return "waits in the L2";
  }
}

/** Neither flying nor on the chip: in HBM, not made yet, or gone. */
function atRest(schedule: Schedule, time: number, followed: Followed): string {
  const flow = flowIndex(schedule);
  let madeAt = Number.POSITIVE_INFINITY;
  let moves = 0;
  for (let i = 0; i < flow.moves.length; i++) {
    const move = flow.moves[i];
    if (!move || !isSame({ tensor: move.tensor, m: move.m_block ?? -1, n: move.n_block ?? -1 }, followed)) continue;
    // What is first read was there before.
    if (moves++ === 0 && move.source === "hbm") return "lies in HBM";
    if (move.target === "hbm") madeAt = Math.min(madeAt, flow.ends[i] as number);
  }
  if (moves > 0) return time >= madeAt ? "lies in HBM" : "is not made yet";
  if (sideOf(followed.tensor) !== "mn") return "takes no part in this pass";
  const block = blockStep(schedule, followed);
  if (!block) return "is never computed: the mask skips it";
  return time < block.step + 1 ? "is not made yet" : "was used and is gone: it never left its SM";
}
