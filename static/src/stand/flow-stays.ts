/*
 * Where tiles rest between their moves: K and V in the L2 while SMs still ask for them, a Q block on its SM until its
 * row is done, the output growing beside it, and the score block that is made, used and gone. All of it follows from
 * the order of the moves; the schedule does not have to say it.
 */
import type { Sorted, Stay } from "./flow-index";
import { collects, sideOf, tileKey } from "./flow-kinds";
import { computeWindow, type StepShape } from "./flow-timing";
import type { Move } from "./types";

/** Stays shorter than this share of a step are not worth a tile of their own. */
const SHORTEST = 0.005;

const lasting = (stay: Stay): boolean => stay.to - stay.from > SHORTEST;

/** What one SM holds, for all its steps. */
export function staysOnSm(flow: Sorted): Stay[] {
  const stays: Stay[] = [];
  for (let step = 0; step < flow.shapes.length; step++) {
    const moves = movesIn(flow, step);
    restOnSm(flow, step, moves, stays);
    madeOnSm(flow, step, moves, stays);
    flash(flow, step, moves, stays);
  }
  return stays.filter(lasting);
}

function stayOf(move: Move, place: Stay["place"], row: number, from: number, to: number): Stay {
  return {
    tensor: move.tensor,
    m: move.m_block ?? -1,
    n: move.n_block ?? -1,
    place,
    row,
    from,
    to,
    grows: false,
    fades: false,
  };
}

/** From arrival until the last time the same copy is handed on. */
export function staysInL2(flow: Pick<Sorted, "moves" | "starts" | "ends">): Stay[] {
  const stays: Stay[] = [];
  const open = new Map<string, Stay>();
  const order = flow.moves
    .map((move, i) => ({ move, at: move.target === "l2" ? (flow.ends[i] as number) : (flow.starts[i] as number) }))
    .sort((a, b) => a.at - b.at || (a.move.target === "l2" ? -1 : 1));
  for (const { move, at } of order) {
    const key = tileKey(move.tensor, move.m_block, move.n_block);
    const known = open.get(key);
    if (move.target === "l2") {
      // A newer copy takes the place of the one that waited.
      const stay = stayOf(move, "l2", -1, at, at);
      open.set(key, stay);
      stays.push(stay);
    } else if (known) known.to = Math.max(known.to, at);
  }
  return stays.filter(lasting);
}

/** The steps from `step` on, without a break, that work on the same SM. */
function* runFrom(flow: Sorted, step: number): Generator<number> {
  const owner = flow.owners[step];
  for (let at = step; at < flow.shapes.length && flow.owners[at] === owner; at++) yield at;
}

/** Whether a step works on the row, column or block a tile belongs to. */
function uses(flow: Sorted, step: number, move: Move): boolean {
  for (let i = flow.computeStart[step] as number; i < (flow.computeStart[step + 1] as number); i++) {
    const block = flow.computes[i];
    const side = sideOf(move.tensor);
    if (side !== "n" && block?.m_block !== move.m_block) continue;
    if (side !== "m" && block?.n_block !== move.n_block) continue;
    return true;
  }
  return false;
}

function movesIn(flow: Sorted, step: number): readonly Move[] {
  return flow.moves.slice(flow.moveStart[step], flow.moveStart[step + 1]);
}

/** From arrival until the work it was fetched for is done: a step, or as long as its SM goes on using it. */
function restOnSm(flow: Sorted, step: number, moves: readonly Move[], stays: Stay[]): void {
  moves.forEach((move, j) => {
    if (move.target !== "sm") return;
    const i = (flow.moveStart[step] as number) + j;
    const leaves = moves.findIndex(
      (other) =>
        other.source === "sm" &&
        tileKey(other.tensor, other.m_block, other.n_block) === tileKey(move.tensor, move.m_block, move.n_block),
    );
    const stay = stayOf(move, "sm", flow.owners[step] as number, flow.ends[i] as number, 0);
    if (leaves >= 0) {
      // Updated in place and sent back.
      stay.to = flow.starts[(flow.moveStart[step] as number) + leaves] as number;
    } else {
      const last = sideOf(move.tensor) === "mn" ? waitsFor(flow, step, move) : lastUse(flow, step, move);
      stay.to = last + computeWindow(flow.shapes[last] as StepShape).end;
      stay.fades = true;
    }
    stays.push(stay);
  });
}

function lastUse(flow: Sorted, step: number, move: Move): number {
  let last = step;
  for (const at of runFrom(flow, step)) {
    if (at > step && (!uses(flow, at, move) || rereads(flow, at, move))) break;
    last = at;
  }
  return last;
}

function rereads(flow: Sorted, step: number, move: Move): boolean {
  const own = tileKey(move.tensor, move.m_block, move.n_block);
  return movesIn(flow, step).some(
    (other) => other.target === "sm" && tileKey(other.tensor, other.m_block, other.n_block) === own,
  );
}

/** A row of scores waits until all of it is there and what is made of this block leaves. */
function waitsFor(flow: Sorted, step: number, move: Move): number {
  for (const at of runFrom(flow, step)) {
    if (at > step && rereads(flow, at, move)) break;
    for (const other of movesIn(flow, at))
      if (
        other.source === "sm" &&
        sideOf(other.tensor) === "mn" &&
        other.m_block === move.m_block &&
        other.n_block === move.n_block
      )
        return at;
  }
  return step;
}

/** What begins on the SM: score blocks in the step they leave, sums from the start of their row or column. */
function madeOnSm(flow: Sorted, step: number, moves: readonly Move[], stays: Stay[]): void {
  moves.forEach((move, j) => {
    if (move.source !== "sm" || rereads(flow, step, move)) return;
    let first = step;
    if (collects(move.tensor))
      for (let at = step - 1; at >= 0 && flow.owners[at] === flow.owners[step] && uses(flow, at, move); at--) {
        const left = movesIn(flow, at).some(
          (other) =>
            other.source === "sm" &&
            tileKey(other.tensor, other.m_block, other.n_block) === tileKey(move.tensor, move.m_block, move.n_block),
        );
        if (left) break;
        first = at;
      }
    const from = first + computeWindow(flow.shapes[first] as StepShape).start;
    const to = flow.starts[(flow.moveStart[step] as number) + j] as number;
    stays.push({ ...stayOf(move, "sm", flow.owners[step] as number, from, to), grows: true });
  });
}

/** A score block that never leaves the SM lights up and is gone. */
function flash(flow: Sorted, step: number, moves: readonly Move[], stays: Stay[]): void {
  const work = computeWindow(flow.shapes[step] as StepShape);
  for (let i = flow.computeStart[step] as number; i < (flow.computeStart[step + 1] as number); i++) {
    const block = flow.computes[i];
    if (!block || moves.some((move) => sideOf(move.tensor) === "mn")) continue;
    stays.push({
      tensor: "s",
      m: block.m_block,
      n: block.n_block,
      place: "sm",
      row: flow.owners[step] as number,
      from: step + work.start,
      to: step + work.end,
      grows: true,
      fades: true,
    });
  }
}
