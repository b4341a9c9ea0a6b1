/*
 * The same moves with every SM at work at once: a schedule counts its steps one after the other, here each row (or
 * column) of blocks runs its own steps on its own SM, all of them from the first step of their kernel on. No move is
 * added, left out or resized, so both tallies end at the same sums. That all SMs start together is a way of drawing.
 *
 * A tile that several SMs ask for still crosses the HBM line once: with the first of them, and back after the last.
 */
import { tileKey } from "./flow-kinds";
import type { Compute, Move, Schedule, Strand } from "./types";

/** One kernel: steps among which nothing waits for a whole other row or column. */
interface Phase {
  first: number;
  /** One past the last. */
  end: number;
  owners: number[];
}

interface Moved {
  move: Move;
  strand: Strand & { moves: Move[]; computes: Compute[] };
}

/** Version 1 gives a head to one SM: within a head nothing of it runs at once. */
export function runsAtOnce(schedule: Pick<Schedule, "algorithm">): boolean {
  return schedule.algorithm !== "fa1";
}

export function atOnce(schedule: Schedule): Schedule {
  if (!runsAtOnce(schedule)) return schedule;
  const movesAt = byStep(schedule.moves, schedule.num_steps);
  const computesAt = byStep(schedule.computes, schedule.num_steps);
  const strands: Moved["strand"][] = [];
  let start = 0;
  for (const phase of phasesOf(schedule, movesAt, computesAt)) {
    const own = new Map<number, { strand: Moved["strand"]; steps: number }>();
    const moved: Moved[] = [];
    for (let step = phase.first; step < phase.end; step++) {
      const owner = phase.owners[step - phase.first] as number;
      const known = own.get(owner) ?? { strand: { owner, moves: [], computes: [] }, steps: 0 };
      own.set(owner, known);
      const at = start + known.steps++;
      for (const move of movesAt[step] as Move[]) moved.push({ move: { ...move, step: at }, strand: known.strand });
      for (const block of computesAt[step] as Compute[]) known.strand.computes.push({ ...block, step: at });
    }
    withFirstAndLast(moved);
    for (const { move, strand } of moved) strand.moves.push(move);
    strands.push(...[...own.values()].map(({ strand }) => strand));
    start += Math.max(...[...own.values()].map(({ steps }) => steps));
  }
  return {
    ...schedule,
    num_steps: start,
    moves: strands.flatMap(({ moves }) => moves),
    computes: strands.flatMap(({ computes }) => computes),
    strands,
  };
}

function byStep<T extends { step: number }>(items: readonly T[], steps: number): T[][] {
  const lists: T[][] = Array.from({ length: steps }, () => []);
  for (const item of items) lists[item.step]?.push(item);
  return lists;
}

/** A kernel ends where a block comes round again, or where steps with and without score blocks meet. */
function phasesOf(schedule: Schedule, movesAt: readonly Move[][], computesAt: readonly Compute[][]): Phase[] {
  const phases: Phase[] = [];
  let seen = new Set<string>();
  let first = 0;
  const close = (end: number) => {
    if (end > first) phases.push(phaseOf(schedule, movesAt, computesAt, first, end));
    first = end;
    seen = new Set();
  };
  for (let step = 0; step < schedule.num_steps; step++) {
    const block = computesAt[step]?.[0];
    const before = step > 0 ? computesAt[step - 1]?.[0] : block;
    const key = block ? `${block.m_block} ${block.n_block}` : `row ${movesAt[step]?.[0]?.m_block}`;
    if ((block === undefined) !== (before === undefined) || seen.has(key)) close(step);
    seen.add(key);
  }
  close(schedule.num_steps);
  return phases;
}

function phaseOf(
  schedule: Schedule,
  movesAt: readonly Move[][],
  computesAt: readonly Compute[][],
  first: number,
  end: number,
): Phase {
  let alongRows = 0;
  for (let step = first + 1; step < end; step++) {
    const [a, b] = [computesAt[step - 1]?.[0], computesAt[step]?.[0]];
    if (!a || !b) continue;
    alongRows += Number(a.m_block === b.m_block) - Number(a.n_block === b.n_block);
  }
  const byRow = alongRows > 0 || (alongRows === 0 && schedule.direction === "forward");
  const owners: number[] = [];
  for (let step = first; step < end; step++) {
    const block = computesAt[step]?.[0];
    owners.push(block ? (byRow ? block.m_block : block.n_block) : (movesAt[step]?.[0]?.m_block ?? 0));
  }
  return { first, end, owners };
}

/** Within a kernel, a tile leaves HBM for whoever asks first, and goes back once the last has written it. */
function withFirstAndLast(moved: Moved[]): void {
  const lists = new Map<string, { out: Moved[]; reads: Moved[]; writes: Moved[]; back: Moved[] }>();
  for (const one of moved) {
    const { tensor, m_block, n_block, source, target } = one.move;
    const key = tileKey(tensor, m_block, n_block);
    const list = lists.get(key) ?? { out: [], reads: [], writes: [], back: [] };
    lists.set(key, list);
    if (source === "hbm") list.out.push(one);
    else if (target === "hbm") list.back.push(one);
    else if (target === "sm") list.reads.push(one);
    else list.writes.push(one);
  }
  for (const { out, reads, writes, back } of lists.values()) {
    if (out.length === 1 && reads.length > 0)
      join(
        out[0] as Moved,
        reads.reduce((a, b) => (b.move.step < a.move.step ? b : a)),
      );
    if (back.length === 1 && writes.length > 0)
      join(
        back[0] as Moved,
        writes.reduce((a, b) => (b.move.step > a.move.step ? b : a)),
      );
  }
}

function join(one: Moved, other: Moved): void {
  one.move.step = other.move.step;
  one.strand = other.strand;
}
