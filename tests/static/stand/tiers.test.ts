/* Choosing a tier: as asked, low at once on software drawing, otherwise by the time between frames. */
import { expect, it } from "vitest";
import { startTier, TierChooser, TIERS } from "../../../static/src/stand/tiers";

const feed = (chooser: TierChooser, ms: number, frames: number) => {
  let changed = null;
  for (let i = 0; i < frames; i++) changed = chooser.push(ms) ?? changed;
  return changed;
};

it("does as asked", () => {
  for (const tier of ["low", "medium", "high"] as const) expect(startTier(tier, "SwiftShader")).toBe(tier);
});

it("starts low where the processor draws, in the middle elsewhere", () => {
  expect(startTier("auto", "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device), SwiftShader driver)")).toBe("low");
  expect(startTier("auto", "llvmpipe (LLVM 15)")).toBe("low");
  expect(startTier("auto", "Mesa Intel(R) UHD Graphics 620")).toBe("medium");
  expect(startTier("auto", "")).toBe("medium");
});

it("steps down when frames are slow, up when they are fast, and not back up to what failed", () => {
  const chooser = new TierChooser("medium");
  expect(feed(chooser, 16.7, 60)).toBe("high");
  expect(feed(chooser, 60, 60)).toBe("low");
  expect(feed(chooser, 10, 60)).toBeNull();
  expect(chooser.tier).toBe("low");
});

it("is not moved by a few slow frames among many good ones", () => {
  const chooser = new TierChooser("high");
  for (let i = 0; i < 200; i++) expect(chooser.push(i % 5 === 0 ? 90 : 20)).toBeNull();
});

it("throws no shadows and adds no pass at the low tier", () => {
  expect(TIERS.low).toEqual({ pixelRatio: 1, shadow: 0, plain: true, occlusion: false });
  expect(TIERS.high.pixelRatio).toBe(2);
});
