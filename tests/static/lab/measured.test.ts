/* Measured points: which are drawn, what is said of them, and a way to all of them. */
import { expect, it } from "vitest";
import { marksOf, measuredNote, measurementsOf, type Seen } from "../../../static/src/lab/measured";
import { DEFAULTS } from "../../../static/src/state/types";

const SEEN = {
  seqlen: 1024,
  kernel: "fa2_triton",
  name: "FlashAttention 2",
  model: "fa2",
  gpu: "NVIDIA H200",
  date: "2026-11-29",
  hbm_bytes: 5,
  l2_sm_bytes: 7,
} as unknown as Seen;

it("draws what HBM saw, and for the way whose upper edge it is what crossed into the SMs", () => {
  expect(marksOf([SEEN]).map(({ x, y }) => [x, y])).toEqual([
    [1024, 5],
    [1024, 7],
  ]);
  expect(marksOf([{ ...SEEN, model: "standard" }]).map(({ y }) => y)).toEqual([5]);
  expect(marksOf([{ ...SEEN, hbm_bytes: null }])).toEqual([]);
});

it("says that the stand is another GPU than the one measured on", () => {
  expect(measuredNote([SEEN])).toContain("The stand is an H100");
  expect(measuredNote([{ ...SEEN, gpu: "NVIDIA H100" }])).not.toContain("The stand is");
  expect(measuredNote([])).toContain("Nothing was measured");
});

it("leads to the measurements of what the panel shows", () => {
  expect(measurementsOf({ ...DEFAULTS, headDim: 64, causal: true } as typeof DEFAULTS)).toBe(
    "/measurements?direction=forward&head_dim=64&causal=true",
  );
});
