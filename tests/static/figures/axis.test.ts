/* Ticks on a logarithmic axis. */
import { scaleLog } from "d3-scale";
import { describe, expect, it } from "vitest";
import { powers } from "../../../static/src/figures/axis";

describe("powers", () => {
  it("lie within the axis, ends included", () => {
    expect(powers(scaleLog([0.1, 1000], [0, 1]), 10, 9)).toEqual([0.1, 1, 10, 100, 1000]);
    expect(powers(scaleLog([3, 70], [0, 1]), 4, 9)).toEqual([4, 16, 64]);
  });

  it("are thinned to what has room", () => {
    expect(powers(scaleLog([1, 1e6], [0, 1]), 10, 3)).toEqual([1, 1e3, 1e6]);
  });
});
