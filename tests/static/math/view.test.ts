/* Fitting a box into a window: everything is inside, nothing is further away than it must be. */
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../static/src/math/random";
import {
  type Box,
  blendViews,
  cornersOf,
  fitView,
  type Margins,
  positionOf,
  project,
  type View,
} from "../../../static/src/math/view";

const random = seededRandom(11);
const between = (low: number, high: number) => low + (high - low) * random();

describe("fitView", () => {
  it("keeps every corner inside the margins and touches one of them", () => {
    for (let round = 0; round < 200; round++) {
      const box: Box = {
        min: [between(-60, -5), between(-10, 0), between(-50, -5)],
        max: [between(5, 60), between(1, 90), between(5, 50)],
      };
      const free: Margins = {
        left: between(0, 0.2),
        right: between(0, 0.2),
        top: between(0, 0.1),
        bottom: between(0, 0.1),
      };
      const lens = { fov: between(0.2, 0.9), aspect: between(1 / 1.3, 2) };
      const view = fitView(cornersOf(box), between(-3, 3), between(0.1, 1.4), lens, free);
      const seen = cornersOf(box).map((corner) => project(corner, view, lens));
      const left = Math.min(...seen.map(({ x }) => x)) + 1 - 2 * free.left;
      const right = 1 - 2 * free.right - Math.max(...seen.map(({ x }) => x));
      const bottom = Math.min(...seen.map(({ y }) => y)) + 1 - 2 * free.bottom;
      const top = 1 - 2 * free.top - Math.max(...seen.map(({ y }) => y));
      const tightest = Math.min(left + right, top + bottom);
      for (const gap of [left, right, bottom, top]) expect(gap).toBeGreaterThan(-1e-9);
      expect(tightest).toBeCloseTo(0, 9);
      for (const { depth } of seen) expect(depth).toBeGreaterThan(0);
    }
  });

  it("looks along the wanted direction", () => {
    const view = fitView(
      cornersOf({ min: [-1, 0, -1], max: [1, 1, 1] }),
      0,
      0.5,
      { fov: 0.5, aspect: 1 },
      { left: 0, right: 0, top: 0, bottom: 0 },
    );
    const [x, y, z] = positionOf(view);
    expect(x - view.target[0]).toBeCloseTo(0, 12);
    expect((y - view.target[1]) / (z - view.target[2])).toBeCloseTo(Math.tan(0.5), 12);
  });
});

it("projects a point on the axis to the middle, one to the right to the right", () => {
  const view: View = { target: [0, 0, 0], azimuth: 0, elevation: 0, distance: 10 };
  const lens = { fov: Math.PI / 2, aspect: 2 };
  expect(project([0, 0, 0], view, lens)).toMatchObject({ x: 0, y: 0, depth: 10 });
  expect(project([20, 0, 0], view, lens).x).toBeCloseTo(1, 12);
  expect(project([0, 10, 0], view, lens).y).toBeCloseTo(1, 12);
});

it("blends views from end to end the short way round", () => {
  const from: View = { target: [0, 0, 0], azimuth: 3, elevation: 0.2, distance: 10 };
  const to: View = { target: [2, 4, 6], azimuth: -3, elevation: 0.6, distance: 1000 };
  const start = blendViews(from, to, 0);
  expect({ ...start, distance: 0 }).toEqual({ ...from, distance: 0 });
  expect(start.distance).toBeCloseTo(10, 9);
  const end = blendViews(from, to, 1);
  expect(end.distance).toBeCloseTo(1000, 6);
  expect(Math.cos(end.azimuth)).toBeCloseTo(Math.cos(-3), 12);
  const half = blendViews(from, to, 0.5);
  expect(half.target).toEqual([1, 2, 3]);
  expect(half.distance).toBeCloseTo(100, 9);
  expect(Math.abs(half.azimuth - Math.PI)).toBeLessThan(1e-9);
});
