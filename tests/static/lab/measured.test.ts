/* Measured points: which are drawn, what is said of them, and a way to all of them. */
import { expect, it } from "vitest";
import type { MeasuredPoint } from "../../../static/src/api/schema.gen";
import type { Point } from "../../../static/src/lab/answers";
import { marksOf, measuredNote, measurementsOf, quickest, type Seen } from "../../../static/src/lab/measured";
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

function ran(kernel: string, time_ms: number, gpu = "NVIDIA H200", model: MeasuredPoint["model"] = "fa2") {
  return { kernel, gpu, model, time_ms, dtype: "bf16" };
}

function at(...measured: ReturnType<typeof ran>[]): Point {
  return { counts: { measured } } as unknown as Point;
}

it("takes a kernel's middle run, not its luckiest", () => {
  const point = at(ran("a", 9), ran("a", 1), ran("a", 2));
  expect(quickest(point, "fa2")?.time_ms).toBe(2);
});

it("compares kernels by their middle runs", () => {
  const point = at(ran("lucky once", 1), ran("lucky once", 6), ran("lucky once", 7), ran("steady", 3));
  expect(quickest(point, "fa2")?.kernel).toBe("steady");
});

it("keeps the runs of another GPU and of another way of computing apart", () => {
  const point = at(ran("a", 4), ran("a", 2, "NVIDIA H100"), ran("b", 1, "NVIDIA H200", "standard"));
  expect(quickest(point, "fa2")?.time_ms).toBe(2);
  expect(quickest(point, "standard")?.kernel).toBe("b");
  expect(quickest(point, "fa1")).toBeUndefined();
});
