/*
 * The stand's front door: createStand, and the pure functions of the flow. Pages that need only the flow import
 * `stand/flow`, which does not bring three.js along.
 */
import { LiveStand } from "./stand";
import type { Stand, StandOptions } from "./types";

export { blockExists, computesAt, type LineTally, storedAt, type Tally, tallyAt, tilesAt } from "./flow";
export type * from "./types";

/** Builds the stand inside `host` and draws its first frame soon after. Rejects where there is no WebGL2 or no model. */
export async function createStand(host: HTMLElement, options: StandOptions): Promise<Stand> {
  return LiveStand.create(host, options);
}
