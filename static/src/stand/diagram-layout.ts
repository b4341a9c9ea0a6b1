/*
 * What stands where on the block diagram of the full chip and on the opened SM: rectangles only, in mm. The diagram keeps
 * the die's own floor plan, but each cluster gives up a strip for its name. Counts come with the model. Pure.
 */
import type { Region, RegionKind } from "./package";
import type { DiePick } from "./types";

/** What the model's file says about the diagram. */
export interface DiagramFacts {
  texts: Record<DiePick["kind"], { title: string; what: string; facts: readonly string[] }>;
  /** How many of those drawn a product uses. */
  in_use: { sm: number; memory_controller: number; site: number };
  inside_sm: { tensor_cores: number; registers_kib: number; l1_kib: number; shared_kib: number };
}

export type CellKind =
  | RegionKind
  | "interface"
  | "tensor_core"
  | "rmem"
  | "smem"
  | "l1"
  | "load"
  | "matmul"
  | "softmax";

export interface Cell {
  kind: CellKind;
  index: number;
  x: number;
  z: number;
  w: number;
  d: number;
  /** Height of its top over the board. */
  high: number;
  /** False for what a product has switched off. */
  used: boolean;
}

/** Strip of a cluster that carries its name. */
export const HEADER = 1.25;

const HEIGHTS: Partial<Record<CellKind, number>> = { gpc: 0.14, tpc: 0.24 };
const HIGH = 0.42;

const cell = (kind: CellKind, index: number, [x, z, w, d]: Region, used = true): Cell => ({
  kind,
  index,
  x,
  z,
  w,
  d,
  high: HEIGHTS[kind] ?? HIGH,
  used,
});

type Regions = Record<RegionKind, readonly Region[]> & { interface?: readonly Region[] };

/**
 * Whole pairs are switched off, spread over the clusters. Which ones a product lacks is not published: these are as good
 * as any, and the plaque says so.
 */
export function unusedPairs(regions: Pick<Regions, "gpc" | "tpc" | "sm">, used: number): Set<number> {
  const perPair = regions.sm.length / regions.tpc.length;
  const perCluster = regions.tpc.length / regions.gpc.length;
  const off = Math.round((regions.sm.length - used) / perPair);
  const pairs = new Set<number>();
  for (let i = 0; i < off; i++) {
    const cluster = Math.floor((i * regions.gpc.length) / off);
    pairs.add(cluster * perCluster + ((cluster * 5 + 2) % perCluster));
  }
  return pairs;
}

export function diagramCells(regions: Regions, facts: DiagramFacts): Cell[] {
  const perPair = regions.sm.length / regions.tpc.length;
  const perCluster = regions.tpc.length / regions.gpc.length;
  const off = unusedPairs(regions, facts.in_use.sm);
  const inCluster = ([x, z, w, d]: Region, cluster: number): Region => {
    const [, middle, , depth] = regions.gpc[cluster] as Region;
    const inner = middle - (Math.sign(middle) * depth) / 2;
    const share = (depth - HEADER) / depth;
    return [x, inner + (z - inner) * share, w, d * share];
  };
  const clusterOf = (pair: number) => Math.floor(pair / perCluster);
  return [
    ...(regions.interface ?? []).map((region, i) => cell("interface", i, region)),
    // The last pair of controllers serves the site that holds no named stack.
    ...regions.memory_controller.map((region, i) =>
      cell("memory_controller", i, region, i < facts.in_use.memory_controller),
    ),
    ...regions.l2.map((region, i) => cell("l2", i, region)),
    ...regions.gpc.map((region, i) => cell("gpc", i, region)),
    ...regions.tpc.map((region, i) => cell("tpc", i, inCluster(region, clusterOf(i)), !off.has(i))),
    ...regions.sm.map((region, i) => {
      const pair = Math.floor(i / perPair);
      return cell("sm", i, inCluster(region, clusterOf(pair)), !off.has(pair));
    }),
  ];
}

export const SM_BOARD = { w: 31, d: 22 } as const;
const EDGE = 1;
const GAP = 0.7;
const SHARED_DEPTH = 4.4;
const TITLE = 2;

/** The four quarters of an SM over the one memory they share. */
export function smCells({ inside_sm: inside }: DiagramFacts): Cell[] {
  const cells: Cell[] = [];
  const width = SM_BOARD.w - 2 * EDGE;
  const top = -SM_BOARD.d / 2 + EDGE + TITLE;
  const bottom = SM_BOARD.d / 2 - EDGE;
  const rows = Math.ceil(inside.tensor_cores / 2);
  const deep = (bottom - SHARED_DEPTH - GAP - top - GAP * (rows - 1)) / rows;
  const wide = (width - GAP) / 2;
  for (let i = 0; i < inside.tensor_cores; i++) {
    const x = -width / 2 + (i % 2) * (wide + GAP) + wide / 2;
    const z = top + Math.floor(i / 2) * (deep + GAP) + deep / 2;
    cells.push(cell("tpc", i, [x, z, wide, deep]));
    const each = (wide - 3 * 0.4) / 2;
    cells.push(cell("rmem", i, [x - each / 2 - 0.2, z, each, deep - 0.8]));
    cells.push(cell("tensor_core", i, [x + each / 2 + 0.2, z, each, deep - 0.8]));
  }
  const z = bottom - SHARED_DEPTH / 2;
  const shared = (width * inside.shared_kib) / inside.l1_kib;
  cells.push(cell("smem", 0, [-width / 2 + shared / 2, z, shared, SHARED_DEPTH]));
  cells.push(cell("l1", 0, [-width / 2 + (shared + width) / 2, z, width - shared, SHARED_DEPTH]));
  return cells;
}

const contains = (of: Cell, x: number, z: number): boolean =>
  Math.abs(x - of.x) <= of.w / 2 && Math.abs(z - of.z) <= of.d / 2;

/**
 * What a tap at a place means: first the cluster, then the pair in it, then the SM; once so deep, the next tap elsewhere
 * stays as deep; a tap on the SM that is open closes it. Null outside every cluster.
 */
export function pickAt(cells: readonly Cell[], x: number, z: number, now: DiePick | null): DiePick | null {
  const at = (kind: DiePick["kind"]): DiePick | null => {
    const found = cells.find((one) => one.kind === kind && contains(one, x, z));
    return found ? { kind, index: found.index } : null;
  };
  const path = (["gpc", "tpc", "sm"] as const).map(at);
  const depth = now ? (["gpc", "tpc", "sm"] as const).indexOf(now.kind) : -1;
  const inside = depth >= 0 && path[depth]?.index === now?.index;
  if (inside && depth === 2) return null;
  const wanted = inside ? depth + 1 : Math.max(0, depth);
  // On a strip or a street there is nothing deeper: the nearest that is there counts.
  for (let level = wanted; level >= 0; level--) if (path[level]) return path[level] ?? null;
  return null;
}

/** The clusters, pairs and SMs that a pick stands for, itself and what it holds. */
export function holds(pick: DiePick, of: Cell, cells: readonly Cell[]): boolean {
  if (of.kind === pick.kind) return of.index === pick.index;
  const outer = cells.find(({ kind, index }) => kind === pick.kind && index === pick.index);
  return (
    outer !== undefined && (of.kind === "tpc" || of.kind === "sm") && pick.kind !== "sm" && contains(outer, of.x, of.z)
  );
}
