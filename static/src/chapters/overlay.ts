/*
 * What the reader lays over a chapter's scene for a moment: a word rested on, a part picked, a touch that lights
 * something. The scene itself stays as it is and comes back when the layer goes.
 */
import type { StandState } from "../stand/types";

export type Layer = "pick" | "touch" | "hover";
export type Patch = Partial<Pick<StandState, "pose" | "lit" | "labels" | "grid">>;

/** The stacks NVIDIA names; prose says HBM and never means the sixth site. */
const NAMED_STACKS = [0, 1, 2, 3, 4].map((index) => `hbm_stack_${index}`);

/** Part ids of a `data-part` attribute: ids parted by spaces, "hbm" for the named stacks. */
export function partsNamed(names: string): string[] {
  return names.split(/\s+/).flatMap((name) => (name === "hbm" ? NAMED_STACKS : name ? [name] : []));
}

export class Overlay {
  private readonly layers: Record<Layer, Patch | null> = { pick: null, touch: null, hover: null };

  constructor(private readonly changed: () => void) {}

  set(layer: Layer, patch: Patch | null): void {
    if (this.layers[layer] === patch) return;
    this.layers[layer] = patch;
    this.changed();
  }

  /** Drops every layer without a word: the scene is about to change anyway. */
  clear(): void {
    for (const layer of Object.keys(this.layers) as Layer[]) this.layers[layer] = null;
  }

  over(state: StandState): StandState {
    const { pick, touch, hover } = this.layers;
    return { ...state, ...touch, ...pick, ...hover };
  }
}
