/* The tallies of the flows on show: under the stand for one flow, over its two halves for two. */
import type { ScheduleAnswer } from "../api/schema.gen";
import { tallyAt } from "../stand/flow";
import type { Schedule } from "../stand/types";
import { byId } from "../ui/dom";
import { decimalBytes } from "../ui/format";

const METHODS: Record<Schedule["algorithm"], string> = {
  standard: "Standard",
  fa1: "FlashAttention 1",
  fa2: "FlashAttention 2",
};

const LINES = ["hbm", "l2_to_sm"] as const;
/** Where the two lines of a tally stand on the page: alone, and left and right. */
const ALONE = ["hbm", "l2"] as const;
const SIDES = ["left", "right"] as const;

/** Writes what every flow will have moved in the end. */
export function showSums(answers: readonly ScheduleAnswer[]): void {
  const twin = answers.length > 1;
  byId("twin-tallies").hidden = !twin;
  byId("stand-panel").classList.toggle("has-twin", twin);
  const sum = (answer: ScheduleAnswer, line: (typeof LINES)[number]) =>
    decimalBytes(answer.sums[line]?.total_bytes ?? 0);
  const first = answers[0];
  if (first)
    LINES.forEach((line, i) => {
      byId(`sum-${ALONE[i]}`).textContent = sum(first, line);
    });
  if (!twin) return;
  answers.forEach((answer, side) => {
    byId(`twin-${SIDES[side]}`).textContent = METHODS[answer.algorithm];
    LINES.forEach((line, i) => {
      byId(`sum-${SIDES[side]}-${ALONE[i]}`).textContent = sum(answer, line);
    });
  });
}

/** Writes what has crossed at a moment. `times`: each flow's own. */
export function showTallies(schedules: readonly Schedule[], times: readonly number[]): void {
  schedules.forEach((schedule, side) => {
    const time = times[side] as number;
    const tally = tallyAt(schedule, time);
    if (schedules.length > 1) {
      const done = time >= schedule.num_steps ? ` · done after ${schedule.num_steps} steps` : "";
      byId(`twin-${SIDES[side]}`).textContent = METHODS[schedule.algorithm] + done;
    }
    LINES.forEach((line, i) => {
      const bytes = tally[line].read_bytes + tally[line].written_bytes;
      const places = [
        ...(schedules.length > 1 ? [`${SIDES[side]}-${ALONE[i]}`] : []),
        ...(side === 0 ? [ALONE[i]] : []),
      ];
      for (const place of places) {
        const output = byId(`tally-${place}`);
        output.textContent = decimalBytes(bytes);
        output.dataset.bytes = String(bytes);
      }
    });
  });
}
