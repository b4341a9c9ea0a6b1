/*
 * How much is drawn. A tier is named in the address or found by measuring: start in the middle, look at the time
 * between frames while something moves, step down when frames are slow and up when they are clearly fast.
 */
import type { Tier } from "./types";

export interface TierSettings {
  pixelRatio: number;
  /** Side of the shadow map in texels, 0 for none. */
  shadow: number;
  /** Light per corner instead of per pixel, and only the rim of hidden fields of joints. */
  plain: boolean;
  occlusion: boolean;
}

export const TIERS: Record<Tier, TierSettings> = {
  high: { pixelRatio: 2, shadow: 2048, plain: false, occlusion: true },
  medium: { pixelRatio: 2, shadow: 1024, plain: false, occlusion: false },
  low: { pixelRatio: 1, shadow: 0, plain: true, occlusion: false },
};

/** Drawing on the processor shows in the renderer's name; measuring would cost the reader seconds. */
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

export function startTier(asked: Tier | "auto", rendererName: string): Tier {
  if (asked !== "auto") return asked;
  return SOFTWARE.test(rendererName) ? "low" : "medium";
}

/** Frames looked at before deciding. */
const SAMPLE = 20;
const SLOW_MS = 34;
const FAST_MS = 18;

export class TierChooser {
  private readonly times: number[] = [];
  private readonly failed = new Set<Tier>();

  constructor(public tier: Tier) {}

  /** Takes the time between two frames in ms; gives the new tier when it is time to change, else null. */
  push(ms: number): Tier | null {
    this.times.push(ms);
    if (this.times.length < SAMPLE) return null;
    const median = [...this.times].sort((a, b) => a - b)[SAMPLE >> 1] as number;
    this.times.length = 0;
    const order: Tier[] = ["low", "medium", "high"];
    const at = order.indexOf(this.tier);
    if (median > SLOW_MS && at > 0) {
      // A tier that proved too slow is not tried again.
      this.failed.add(this.tier);
      this.tier = order[at - 1] as Tier;
      return this.tier;
    }
    const above = order[at + 1];
    if (median < FAST_MS && above && !this.failed.has(above)) {
      this.tier = above;
      return above;
    }
    return null;
  }
}
