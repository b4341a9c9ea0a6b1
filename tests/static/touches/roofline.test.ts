/* The stop nearest to a place on the axis. */
import { describe, expect, it } from "vitest";
import { nearestIndex } from "../../../static/src/touches/roofline";

describe("nearestIndex", () => {
  const stops = [1, 2, 4, 8].map((intensity) => ({ intensity }));

  it.each([
    [0, 0],
    [1.3, 0],
    [1.5, 1],
    [5.6, 2],
    [5.7, 3],
    [1e9, 3],
  ])("%d lies nearest to stop %d", (intensity, index) => expect(nearestIndex(stops, intensity)).toBe(index));
});
