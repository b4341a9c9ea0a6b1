// Which measurement stands in the laboratory's readout when a kernel was timed several times.
import { expect, it } from "vitest";
import type { MeasuredPoint } from "../../../static/src/api/schema.gen";
import type { Point } from "../../../static/src/lab/answers";
import { quickest } from "../../../static/src/lab/measured";

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
