/*
 * Which SM a step runs on, by the row or column of blocks it owns. Where neighbouring steps share a row of blocks, that
 * row has an SM of its own (version 2 forward, the standard way); where they share a column, the column has (backward
 * passes). Version 1 gives a whole head to one SM, so all its steps run on the same one.
 */
import type { Sorted } from "./flow-index";
import type { Schedule } from "./types";

export function ownersOf(part: Omit<Sorted, "owners">, schedule: Schedule): Int32Array {
  const steps = schedule.num_steps;
  const owners = new Int32Array(steps);
  if (schedule.algorithm === "fa1") return owners.fill(Math.max(schedule.blocks_m, schedule.blocks_n) >> 1);
  const blockAt = (step: number) => {
    const block = step >= 0 && step < steps ? part.computes[part.computeStart[step] as number] : undefined;
    return block?.step === step ? block : undefined;
  };
  for (let step = 0; step < steps; step++) {
    const block = blockAt(step);
    if (!block) {
      owners[step] = part.moves[part.moveStart[step] as number]?.m_block ?? 0;
      continue;
    }
    owners[step] = block.m_block;
    for (const neighbour of [blockAt(step + 1), blockAt(step - 1)]) {
      if (!neighbour) continue;
      if (neighbour.m_block === block.m_block) break;
      if (neighbour.n_block === block.n_block) {
        owners[step] = block.n_block;
        break;
      }
    }
  }
  return owners;
}
