/* The logarithmic axis there and back, its powers of ten, and labels moved apart. */
import { expect, it } from "vitest";
import { logScale, spread } from "../../../static/src/math/log-scale";

it("puts equal ratios at equal distances, and reads positions back", () => {
  const scale = logScale(512, 65_536, 100, 800);
  expect(scale.at(512)).toBe(100);
  expect(scale.at(65_536)).toBeCloseTo(800, 9);
  expect(scale.at(1024) - scale.at(512)).toBeCloseTo(100, 9);
  for (const value of [512, 777, 4096, 65_536]) expect(scale.back(scale.at(value))).toBeCloseTo(value, 6);
});

it("runs downwards as well", () => {
  const scale = logScale(1, 1000, 300, 0);
  expect(scale.at(10)).toBeCloseTo(200, 9);
  expect(scale.back(100)).toBeCloseTo(100, 9);
});

it("lists the powers of ten inside, ends included", () => {
  expect(logScale(1, 1000, 0, 1).tens()).toEqual([1, 10, 100, 1000]);
  expect(logScale(2, 999, 0, 1).tens()).toEqual([10, 100]);
  expect(logScale(1e3, 1e12, 0, 1).tens(3)).toEqual([1e3, 1e6, 1e9, 1e12]);
});

it("moves labels apart, in order and within the ends", () => {
  for (const given of [[10, 10, 10], [95, 96, 97], [0, 1, 50], [60, 10, 12], []]) {
    const placed = spread(given, 20, 0, 100);
    const order = given.map((_, at) => at).sort((a, b) => (given[a] as number) - (given[b] as number));
    order.slice(1).forEach((at, index) => {
      expect((placed[at] as number) - (placed[order[index] as number] as number)).toBeGreaterThanOrEqual(20);
    });
    for (const position of placed) {
      expect(position).toBeGreaterThanOrEqual(0);
      expect(position).toBeLessThanOrEqual(100);
    }
  }
  expect(spread([10, 50, 90], 20, 0, 100)).toEqual([10, 50, 90]);
});
