/* Bytes that have crossed the HBM line, against a schedule written out by hand. */
import { describe, expect, it } from "vitest";
import type { ScheduleMove } from "../../../static/src/api/schema.gen";
import { CROSSINGS, crossed } from "../../../static/src/touches/round-trip";

const move = (step: number, tensor: string, source: string, target: string, bytes: number): ScheduleMove =>
  ({ step, tensor, m_block: 0, n_block: 0, source, target, bytes }) as ScheduleMove;

// One block: kernel 1 in step 0, kernel 2 in step 1, kernel 3 in step 2.
const MOVES = [
  move(0, "q", "hbm", "l2", 10),
  move(0, "q", "l2", "sm", 10),
  move(0, "k", "hbm", "l2", 20),
  move(0, "s", "sm", "l2", 400),
  move(0, "s", "l2", "hbm", 400),
  move(1, "s", "hbm", "l2", 400),
  move(1, "p", "l2", "hbm", 400),
  move(2, "p", "hbm", "l2", 400),
  move(2, "v", "hbm", "l2", 20),
  move(2, "o", "l2", "hbm", 10),
];

describe("crossed", () => {
  const at = (time: number) => CROSSINGS.map((crossing) => crossed(MOVES, crossing, time).now);

  it("counts a step once it is over", () => {
    expect(at(0)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    expect(at(0.9)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    expect(at(1)).toEqual([10, 20, 400, 0, 0, 0, 0, 0]);
    expect(at(2.5)).toEqual([10, 20, 400, 400, 400, 0, 0, 0]);
    expect(at(3)).toEqual([10, 20, 400, 400, 400, 400, 20, 10]);
  });

  it("knows the whole from the start", () => {
    const all = CROSSINGS.map((crossing) => crossed(MOVES, crossing, 0).all);
    expect(all).toEqual([10, 20, 400, 400, 400, 400, 20, 10]);
  });
});
