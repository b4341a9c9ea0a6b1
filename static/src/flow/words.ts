/* What the panel says about the flows it shows. */
import type { ScheduleAnswer } from "../api/schema.gen";
import type { Schedule } from "../stand/types";
import { whole } from "../ui/format";

const NOTES: Record<Schedule["direction"], Record<Schedule["algorithm"], string>> = {
  forward: {
    standard: "The score blocks S and P go out to the stacks and come back.",
    fa1: "One SM takes the whole head: K and V stay, the Q blocks pass, and O comes and goes with each.",
    fa2: "Each score block lives and dies on its SM; only O goes back.",
  },
  backward: {
    standard: "P was kept from the forward pass; dP and dS go out to the stacks and come back.",
    fa1: "One SM takes the whole head and makes every score block again; dQ comes and goes.",
    fa2: "Each score block is made again on its SM; dQ is added up in 32 bits, dK and dV leave once.",
  },
};

export interface Shown {
  /** One schedule, or two side by side. */
  answers: readonly ScheduleAnswer[];
  parallel: boolean;
}

export function noteOf({ answers, parallel }: Shown): string {
  const first = answers[0];
  if (!first) return "";
  const [algorithm, direction] = [first.algorithm, first.direction];
  const told =
    answers.length > 1
      ? "Each method is drawn on one half of the package; a step is one score block, whoever works on it."
      : NOTES[direction][algorithm];
  const once = !parallel
    ? ""
    : answers.length === 1 && algorithm === "fa1"
      ? " Version 1 has nothing to run at once within a head."
      : " Drawn as if all SMs started together.";
  return (
    `${told}${once} One head, N = ${whole(first.seqlen)}, d = ${first.head_dim}, drawn as ` +
    `${first.blocks_m} × ${first.blocks_n} blocks of ${whole(first.block_m)} × ${whole(first.block_n)} rows. Counted.`
  );
}
