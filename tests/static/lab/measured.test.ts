/* Measured points: taken only when complete, named for the reader, and a way to all of them. */
import { expect, it } from "vitest";
import type { TrafficAnswer } from "../../../static/src/api/schema.gen";
import { measuredNote, measuredPoints, measurementsOf } from "../../../static/src/lab/measured";
import { DEFAULTS } from "../../../static/src/state/types";

const WHOLE = { kernel: "standard", gpu: "NVIDIA H200", date: "2026-11-29", hbm_bytes: 5 };

function answer(...measured: object[]): TrafficAnswer {
  return { shape: { seqlen: 1024 }, measured } as unknown as TrafficAnswer;
}

it("takes a record that says what it must and leaves out any other", () => {
  const points = measuredPoints([answer(WHOLE, { ...WHOLE, hbm_bytes: null }, { kernel: "x" })]);
  expect(points).toEqual([{ seqlen: 1024, bytes: 5, label: "standard, measured on NVIDIA H200, 2026-11-29" }]);
});

it("says that the stand is another GPU than the one measured on", () => {
  expect(measuredNote(measuredPoints([answer(WHOLE)]))).toContain("The stand is an H100");
  expect(measuredNote(measuredPoints([answer({ ...WHOLE, gpu: "NVIDIA H100" })]))).not.toContain("The stand is");
  expect(measuredNote([])).toContain("no record");
});

it("leads to the measurements of what the panel shows", () => {
  expect(measurementsOf({ ...DEFAULTS, headDim: 64, causal: true } as typeof DEFAULTS)).toBe(
    "/measurements?direction=forward&head_dim=64&causal=true",
  );
});
