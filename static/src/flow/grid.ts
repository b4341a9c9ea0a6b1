/* The N×N grid of score blocks at a moment of a schedule: which block is worked on, which lie in HBM, which are gone. */
import type { ScheduleAnswer, TrafficAnswer } from "../api/schema.gen";
import type { BlockGrid, Cell } from "../figures/block-grid";
import { blockExists, computesAt, storedAt } from "../stand/flow";
import type { Flow } from "../stand/types";
import { byId } from "../ui/dom";
import { whole } from "../ui/format";

/** The laboratory's own grid where it can be drawn, eight by eight where it has too many blocks. */
export function drawnBlocks(answer: TrafficAnswer): { m: number; n: number } {
  const { blocks_m: m, blocks_n: n } = answer.block;
  return m <= 32 && n <= 32 ? { m, n } : { m: 8, n: 8 };
}

export function drawGrid(grid: BlockGrid, flow: Flow | null, answer: ScheduleAnswer | null): void {
  const caption = byId("lab-grid-caption");
  if (!flow || !answer) {
    grid.draw({ rows: 8, columns: 8, cell: () => "waiting" }, "The grid of score blocks, none computed yet.");
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
  const kept =
    schedule.algorithm === "standard"
      ? "Filled squares lie in HBM: S pale, P strong."
      : "Grey squares are done and gone: none of them was written to HBM.";
  caption.textContent =
    `Each square is a block of ${whole(answer.block_m)} × ${whole(answer.block_n)} scores. ` +
    `The bright one is being computed. ${kept}`;
}
