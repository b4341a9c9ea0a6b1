/* Layers over a scene: the nearest to the reader wins, and the scene comes back. */
import { describe, expect, it } from "vitest";
import { Overlay, partsNamed } from "../../../static/src/chapters/overlay";
import type { StandState } from "../../../static/src/stand/types";

const SCENE: StandState = {
  pose: "hero",
  explode: 0,
  lit: ["base"],
  labels: true,
  grid: false,
  flow: null,
  theme: "gallery",
};

describe("overlay", () => {
  it("puts a word rested on before a part picked, and that before a touch", () => {
    let calls = 0;
    const overlay = new Overlay(() => calls++);
    const lit = () => overlay.over(SCENE).lit;
    expect(lit()).toEqual(["base"]);
    overlay.set("touch", { lit: ["l2"] });
    overlay.set("hover", { lit: ["sm"] });
    overlay.set("pick", { lit: ["gpu_die"] });
    expect(lit()).toEqual(["sm"]);
    overlay.set("hover", null);
    expect(lit()).toEqual(["gpu_die"]);
    overlay.set("pick", null);
    expect(lit()).toEqual(["l2"]);
    expect(calls).toBe(5);
    overlay.clear();
    expect(lit()).toEqual(["base"]);
    expect(calls).toBe(5);
  });

  it("never means the sixth stack by HBM", () => {
    expect(partsNamed("hbm")).toEqual([0, 1, 2, 3, 4].map((index) => `hbm_stack_${index}`));
    expect(partsNamed("gpu_die  base")).toEqual(["gpu_die", "base"]);
    expect(partsNamed("")).toEqual([]);
  });
});
