/*
 * What kinds of tile there are: which rows or columns of the score grid a matrix is cut along, what collects over many
 * steps, and what is a narrow strip of row statistics.
 */
import type { Tensor } from "./types";

/** m: cut by query rows, n: by key rows, mn: a block of the score grid. */
export type Side = "m" | "n" | "mn";

const SIDES: Record<Tensor, Side> = {
  q: "m",
  k: "n",
  v: "n",
  s: "mn",
  p: "mn",
  o: "m",
  o_acc: "m",
  stats: "m",
  lse: "m",
  delta: "m",
  do: "m",
  dq: "m",
  dq_acc: "m",
  dk: "n",
  dv: "n",
  dp: "mn",
  ds: "mn",
};

const COLLECTING: ReadonlySet<Tensor> = new Set(["o", "o_acc", "dq", "dq_acc", "dk", "dv"]);
const STRIPS: ReadonlySet<Tensor> = new Set(["stats", "lse", "delta"]);

export function sideOf(tensor: Tensor): Side {
  return SIDES[tensor];
}

/** Whether a matrix grows over the steps of its row or column before it leaves. */
export function collects(tensor: Tensor): boolean {
  return COLLECTING.has(tensor);
}

export function isStrip(tensor: Tensor): boolean {
  return STRIPS.has(tensor);
}

/** The same for two moves of one tile, whatever indices they carry beside its own. */
export function tileKey(tensor: Tensor, m: number | null, n: number | null): string {
  const side = sideOf(tensor);
  return `${tensor} ${side === "n" ? "" : (m ?? -1)} ${side === "m" ? "" : (n ?? -1)}`;
}

/** Index along the tile's own side: for a score block its column. */
export function ownIndex(tensor: Tensor, m: number, n: number): number {
  return Math.max(0, sideOf(tensor) === "m" ? m : n);
}
