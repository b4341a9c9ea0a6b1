/*
 * Where tiles rest between their moves: K and V in the L2 while SMs still ask for them, a Q block on its SM until its
 * row is done, the output growing beside it, and the score block that is made, used and gone. All of it follows from
 * the order of the moves; the schedule does not have to say it.
 */
import type { FlowIndex, Stay } from "./flow-index";
import { computeWindow, type StepShape } from "./flow-timing";
import type { Move, Tensor } from "./types";

type Sorted = Pick<
  FlowIndex,
  "moves" | "moveStart" | "starts" | "ends" | "rows" | "computes" | "computeStart" | "shapes"
>;

/** Stays shorter than this share of a step are not worth a tile of their own. */
const SHORTEST = 0.005;

function keyOf(tensor: Tensor, m: number, n: number): string {
  if (tensor === "q" || tensor === "o" || tensor === "lse") return `${tensor}${m}`;
  if (tensor === "k" || tensor === "v") return `${tensor}${n}`;
  return `${tensor}${m},${n}`;
}

export function staysOf(flow: Sorted): Stay[] {
  const stays: Stay[] = [];
  restInL2(flow, stays);
  restOnSm(flow, stays);
  madeOnSm(flow, stays);
  return stays.filter((stay) => stay.to - stay.from > SHORTEST);
}

/** From arrival until the last time the same copy is handed on. */
function restInL2(flow: Sorted, stays: Stay[]): void {
  const open = new Map<string, Stay>();
  const order = flow.moves
    .map((move, i) => ({ move, i, at: move.target === "l2" ? (flow.ends[i] as number) : (flow.starts[i] as number) }))
    .filter(({ move }) => move.target === "l2" || move.source === "l2")
    .sort((a, b) => a.at - b.at || (a.move.target === "l2" ? -1 : 1));
  for (const { move, at } of order) {
    const m = move.m_block ?? -1;
    const n = move.n_block ?? -1;
    const key = keyOf(move.tensor, m, n);
    if (move.target === "l2") {
      const stay: Stay = {
        tensor: move.tensor,
        m,
        n,
        place: "l2",
        row: -1,
        from: at,
        to: at,
        grows: false,
        fades: false,
      };
      open.set(key, stay);
      stays.push(stay);
    } else {
      const stay = open.get(key);
      if (stay) stay.to = at;
    }
  }
}

/** From arrival until the work it was fetched for is done; a Q block serves its whole row. */
function restOnSm(flow: Sorted, stays: Stay[]): void {
  const lastCompute = new Map<number, number[]>();
  for (const block of flow.computes) {
    const list = lastCompute.get(block.m_block) ?? [];
    list.push(block.step);
    lastCompute.set(block.m_block, list);
  }
  const qArrivals = new Map<number, number[]>();
  for (const move of flow.moves)
    if (move.tensor === "q" && move.target === "sm")
      qArrivals.set(move.m_block ?? -1, [...(qArrivals.get(move.m_block ?? -1) ?? []), move.step]);
  // A row of scores waits until all of it is there and its softmax has left.
  const pLeaves = new Map<string, number>();
  for (const move of flow.moves)
    if (move.tensor === "p" && move.source === "sm")
      pLeaves.set(keyOf("p", move.m_block ?? -1, move.n_block ?? -1), move.step);
  flow.moves.forEach((move, i) => {
    if (move.target !== "sm") return;
    let until = move.step;
    const row = flow.rows[i] as number;
    if (move.tensor === "s") until = pLeaves.get(keyOf("p", move.m_block ?? -1, move.n_block ?? -1)) ?? move.step;
    if (move.tensor === "q") {
      const next = (qArrivals.get(row) ?? []).find((step) => step > move.step) ?? Number.POSITIVE_INFINITY;
      for (const step of lastCompute.get(row) ?? []) if (step >= move.step && step < next) until = step;
      until = Math.min(until, lastUse(flow, row, move.step, until));
    }
    stays.push({
      tensor: move.tensor,
      m: move.m_block ?? -1,
      n: move.n_block ?? -1,
      place: "sm",
      row,
      from: flow.ends[i] as number,
      to: until + computeWindow(flow.shapes[until] as StepShape).end,
      grows: false,
      fades: true,
    });
  });
}

/** The last step up to `until` in which the row works on Q: later passes of the standard way do not hold it. */
function lastUse(flow: Sorted, row: number, from: number, until: number): number {
  let last = from;
  for (let step = from; step <= until; step++) {
    let works = false;
    let rereads = false;
    for (let i = flow.computeStart[step] as number; i < (flow.computeStart[step + 1] as number); i++)
      if (flow.computes[i]?.m_block === row) works = true;
    for (let i = flow.moveStart[step] as number; i < (flow.moveStart[step + 1] as number); i++) {
      const move = flow.moves[i] as Move;
      if (move.target === "sm" && (move.tensor === "s" || move.tensor === "p")) rereads = true;
    }
    if (rereads) break;
    if (works) last = step;
  }
  return last;
}

/** Score blocks and the running output: they begin on the SM. */
function madeOnSm(flow: Sorted, stays: Stay[]): void {
  const outputSince = new Map<number, number>();
  for (let step = 0; step < flow.shapes.length; step++) {
    const shape = flow.shapes[step] as StepShape;
    const work = computeWindow(shape);
    const first = flow.moveStart[step] as number;
    const end = flow.moveStart[step + 1] as number;
    const leaves = new Set<string>();
    const held = new Set<number>();
    for (let i = first; i < end; i++) {
      const move = flow.moves[i] as Move;
      const row = flow.rows[i] as number;
      if (move.tensor === "s" || move.tensor === "p") held.add(row);
      if ((move.tensor === "v" || move.tensor === "p") && move.target === "sm" && !outputSince.has(row))
        outputSince.set(row, step + work.start + 0.08);
      if (move.source !== "sm" || leaves.has(keyOf(move.tensor, row, move.n_block ?? -1))) continue;
      leaves.add(keyOf(move.tensor, row, move.n_block ?? -1));
      const from = move.tensor === "o" ? (outputSince.get(row) ?? step + work.start) : step + work.start;
      if (move.tensor === "o") outputSince.delete(row);
      stays.push({
        tensor: move.tensor,
        m: move.m_block ?? -1,
        n: move.n_block ?? -1,
        place: "sm",
        row,
        from,
        to: flow.starts[i] as number,
        grows: true,
        fades: false,
      });
    }
    for (let i = flow.computeStart[step] as number; i < (flow.computeStart[step + 1] as number); i++) {
      const block = flow.computes[i] as (typeof flow.computes)[number];
      if (held.has(block.m_block)) continue;
      stays.push({
        tensor: "s",
        m: block.m_block,
        n: block.n_block,
        place: "sm",
        row: block.m_block,
        from: step + work.start,
        to: step + work.end,
        grows: true,
        fades: true,
      });
    }
  }
}
