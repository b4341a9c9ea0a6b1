/* The N×N grid of score blocks at a moment of a schedule: which block is worked on, which lie in HBM, which are gone. */
import type { ScheduleAnswer } from "../api/schema.gen";
import type { BlockGrid, Cell } from "../figures/block-grid";
import { blockExists, computesAt, storedAt } from "../stand/flow";
import type { Flow } from "../stand/types";
import { byId } from "../ui/dom";
import { whole } from "../ui/format";

const EMPTY_SIDE = 8;

export function drawGrid(grid: BlockGrid, flow: Flow | null, answer: ScheduleAnswer | null): void {
  const caption = byId("lab-grid-caption");
  if (!flow || !answer) {
    const cell = (): Cell => "waiting";
    grid.draw({ rows: EMPTY_SIDE, columns: EMPTY_SIDE, cell }, "The grid of score blocks, none computed yet.");
    caption.textContent = "Choose whose tiles fly, under the stand, to see the grid at work.";
    return;
  }
  const { schedule, time } = flow;
  const working = new Set(computesAt(schedule, time).map(({ m_block, n_block }) => `${m_block},${n_block}`));
  const done = new Set<string>();
  for (const { step, m_block, n_block } of schedule.computes)
    if (step < Math.floor(time)) done.add(`${m_block},${n_block}`);
  const cell = (row: number, column: number): Cell => {
    const key = `${row},${column}`;
    if (!blockExists(schedule, row, column)) return "none";
    if (working.has(key)) return "working";
    const stored = storedAt(schedule, time, row, column);
    if (stored) return stored === 2 ? "probs" : "scores";
    return done.has(key) ? "gone" : "waiting";
  };
  const way = schedule.algorithm === "standard" ? "standard attention" : "FlashAttention 2";
  grid.draw(
    { rows: schedule.blocks_m, columns: schedule.blocks_n, cell },
    `Score blocks of ${way} at step ${Math.floor(time)} of ${schedule.num_steps}.`,
  );
  caption.textContent = `${squares(answer)} The bright one is being computed. ${kept(answer)}`;
}

/** What a square stands for: one block, or honestly several where there are too many to draw. */
export function squares(answer: ScheduleAnswer): string {
  const { blocks_in_one_m: m, blocks_in_one_n: n } = answer;
  const scores = `${whole(answer.block_m)} × ${whole(answer.block_n)} scores`;
  if (m === 1 && n === 1) return `Each square is a block of ${scores}.`;
  return (
    `Each square stands for ${whole(m)} × ${whole(n)} blocks, ${scores} in all; ` +
    "the tallies under the stand count squares, so K and V pass less often there than in the readouts."
  );
}

function kept(answer: ScheduleAnswer): string {
  if (answer.algorithm !== "standard") return "Grey squares are done and gone: none of them was written to HBM.";
  return answer.causal
    ? "Filled squares lie in HBM: S pale, P strong; the mask saves the standard way nothing."
    : "Filled squares lie in HBM: S pale, P strong.";
}
