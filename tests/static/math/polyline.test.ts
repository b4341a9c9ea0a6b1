/* Lanes: even speed, the ends where they were asked for, corners rounded and not cut further than allowed. */
import { expect, it } from "vitest";
import { Polyline } from "../../../static/src/math/polyline";

const at = (line: Polyline, k: number): number[] => {
  const out = [0, 0, 0];
  line.at(k, out);
  return out;
};

it("starts and ends at its ends", () => {
  const line = new Polyline(
    [
      [1, 2, 3],
      [4, 2, 3],
      [4, 2, 9],
    ],
    1,
  );
  expect(at(line, 0)).toEqual([1, 2, 3]);
  expect(at(line, 1)).toEqual([4, 2, 9]);
});

it("runs at even speed", () => {
  const line = new Polyline(
    [
      [0, 0, 0],
      [10, 0, 0],
    ],
    1,
  );
  expect(line.length).toBe(10);
  expect(at(line, 0.25)[0]).toBeCloseTo(2.5, 5);
});

it("rounds a corner: shorter than the corner, and never further from it than the radius", () => {
  const line = new Polyline(
    [
      [0, 0, 0],
      [10, 0, 0],
      [10, 0, 10],
    ],
    2,
  );
  expect(line.length).toBeLessThan(20);
  expect(line.length).toBeGreaterThan(18);
  let nearest = Number.POSITIVE_INFINITY;
  for (let k = 0; k <= 1; k += 0.01) {
    const [x, , z] = at(line, k) as [number, number, number];
    nearest = Math.min(nearest, Math.hypot(x - 10, z));
    expect(Math.min(Math.abs(z), Math.abs(x - 10))).toBeLessThanOrEqual(0.51);
  }
  expect(nearest).toBeGreaterThan(0.1);
  expect(nearest).toBeLessThan(2);
});

it("copes with a leg of no length", () => {
  const line = new Polyline(
    [
      [0, 0, 0],
      [0, 0, 0],
      [3, 0, 0],
    ],
    1,
  );
  expect(at(line, 1)).toEqual([3, 0, 0]);
});
