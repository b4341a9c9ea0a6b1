/*
 * Where the flow happens, in mm on the closed package: the workbench of each Q block row on its own SM, parking places
 * in the L2 band, the cells on the stacks where S and P lie, and the lanes between them. Pure; tiles are drawn from it.
 * Which stack holds which tile is illustrative: real addresses are spread over all stacks in small pieces.
 */
import { Polyline } from "../math/polyline";
import { clamp } from "../math/scalar";
import type { Box, Vec3 } from "../math/view";
import { type FlowTile, waitingKinds } from "./flow";
import { ownIndex, sideOf } from "./flow-kinds";
import type { Schedule, Tensor } from "./types";

export type Rect = readonly [number, number, number, number];

/** Which half of the package, by the sign of x. */
export type Half = -1 | 1;

export interface FlowSite {
  /** Set where only one half of the package is used. */
  half?: Half;
  /** Stacks that serve data, each with its assembled bounds. */
  stacks: readonly Box[];
  die: Box;
  dieTop: number;
  l2: readonly Rect[];
  gpc: readonly Rect[];
  sm: readonly Rect[];
}

/** One half of the package with its stacks, its half of the L2 and its GPCs; SMs keep their numbers. */
export function halfOf(site: FlowSite, half: Half): FlowSite {
  const here = ([x]: Rect) => x * half > 0;
  return {
    ...site,
    half,
    stacks: site.stacks.filter(({ min, max }) => (min[0] + max[0]) * half > 0),
    l2: site.l2.filter(here),
    gpc: site.gpc.filter(here),
  };
}

/** Height at which tiles rest, and at which they travel, above the tops. */
const REST = 0.12;
const CRUISE = 1.1;
/** Share of a stack's width, on the side of the die, where tiles come out. */
const PORT = 0.2;

/** Distance between tiles on a workbench, in tiles. */
const PITCH = 1.12;

/** Place on the workbench by matrix: columns and rows in tile pitches from the score block. */
const BENCH: Record<Tensor, readonly [number, number]> = {
  s: [0.5, 0],
  p: [0.5, 0],
  ds: [0.5, 0],
  dp: [-0.5, 0],
  q: [-0.5, 0],
  k: [0.5, -1],
  v: [0.5, 1],
  o: [-0.5, 1],
  o_acc: [-0.5, 1],
  do: [-0.5, -1],
  dq: [-0.5, 2],
  dq_acc: [-0.5, 2],
  dk: [0.5, -2],
  dv: [0.5, 2],
  stats: [-0.5, -1.72],
  lse: [-0.5, -1.72],
  delta: [-0.5, -2.1],
};
/** Rows of tiles on a workbench: a backward pass has more in hand. */
const BENCH_ROWS = { forward: 3.1, backward: 5 } as const;

/** Track out of a stack, 0…5, by matrix. */
const TRACK: Record<Tensor, number> = {
  q: 0,
  k: 1,
  v: 2,
  s: 3,
  p: 4,
  o: 5,
  o_acc: 5,
  stats: 0,
  lse: 0,
  delta: 0,
  do: 5,
  dq: 0,
  dq_acc: 0,
  dk: 1,
  dv: 2,
  dp: 3,
  ds: 4,
};

const KINDS = Object.keys(BENCH) as Tensor[];

export class FlowLayout {
  /** Side of a tile in mm. */
  readonly tile: number;
  private readonly benches: Vec3[] = [];
  private readonly sms: number[] = [];
  private readonly lanes = new Map<number, Polyline>();
  private readonly columns: number;
  private readonly spread: number;
  private readonly waiting: readonly Tensor[];
  private readonly blocksM: number;
  private readonly blocksN: number;
  private readonly kinds: number;
  /** Size of a tile waiting in the L2, as a share of a tile's. */
  private readonly waitingScale: number;
  private readonly bandX: number;
  private readonly bandZ: number;
  private readonly pitchX: number;
  private readonly pitchZ: number;

  constructor(
    private readonly site: FlowSite,
    schedule: Schedule,
  ) {
    this.blocksM = schedule.blocks_m;
    this.blocksN = schedule.blocks_n;
    this.waiting = waitingKinds(schedule);
    const most = Math.max(this.blocksM, this.blocksN);
    this.kinds = schedule.algorithm === "standard" && schedule.direction === "backward" ? 3 : 2;
    this.tile = this.placeBenches(most, BENCH_ROWS[schedule.direction]);
    const left = Math.min(...site.l2.map(([x, , w]) => x - w / 2));
    const right = Math.max(...site.l2.map(([x, , w]) => x + w / 2));
    const depth = Math.max(...site.l2.map(([, , , d]) => d));
    // Each matrix that waits in the L2 has a row of its own in the band, or two.
    const rows = Math.max(2, this.waiting.length);
    this.spread = most > 16 && rows <= 3 ? 2 : 1;
    this.columns = Math.ceil(most / this.spread);
    this.pitchX = (right - left) / this.columns;
    this.pitchZ = depth / (rows * this.spread);
    this.waitingScale = Math.min(1, Math.min(this.pitchX, this.pitchZ) / 1.06 / this.tile);
    this.bandX = left + this.pitchX / 2;
    this.bandZ = (site.l2[0] as Rect)[1] - depth / 2 + this.pitchZ / 2;
  }

  /** Index among all SMs of the one a row works on. */
  smOf(row: number): number {
    return this.sms[row] as number;
  }

  /** Which of the serving stacks holds a tile. */
  stackOf(tensor: Tensor, m: number, n: number): number {
    const count = this.site.stacks.length;
    if (sideOf(tensor) === "mn") return (m * this.blocksN + n) % count;
    return (ownIndex(tensor, m, n) + TRACK[tensor] + 4) % count;
  }

  /** How many matrices of score blocks lie on the stacks once written: S and P, or P, dP and dS. */
  get storedKinds(): number {
    return this.kinds;
  }

  /** Centre and side of the cell on a stack's top where a score block lies as S or dP, P, dS: [x, z, side]. */
  storedCell(as: 0 | 1 | 2, m: number, n: number): Vec3 {
    const count = this.site.stacks.length;
    const index = m * this.blocksN + n;
    const box = this.site.stacks[index % count] as Box;
    const place = Math.floor(index / count);
    const perStack = Math.ceil((this.blocksM * this.blocksN) / count);
    const sign = Math.sign(box.min[0] + box.max[0]);
    const width = (box.max[0] - box.min[0]) * (1 - PORT) - 0.7;
    const area = (box.max[2] - box.min[2] - 1) / this.kinds;
    const depth = area - 0.4;
    const rows = Math.max(1, Math.round(Math.sqrt((perStack * depth) / width)));
    const columns = Math.ceil(perStack / rows);
    const pitch = Math.min(width / columns, depth / rows);
    const column = place % columns;
    const row = Math.floor(place / columns);
    const outer = sign < 0 ? box.min[0] : box.max[0];
    const x = outer - sign * (0.45 + pitch * (column + 0.5));
    const zMiddle = (box.min[2] + box.max[2]) / 2;
    const z = zMiddle + (as - (this.kinds - 1) / 2) * area + (row - (rows - 1) / 2) * pitch;
    return [x, z, pitch * 0.86];
  }

  /** Where two flows share the package, the line between them. */
  parting(): [Vec3, Vec3] | null {
    const { die, dieTop, half } = this.site;
    return half === -1
      ? [
          [0, dieTop + 0.1, die.min[2]],
          [0, dieTop + 0.1, die.max[2]],
        ]
      : null;
  }

  /** The tracks as drawn: for each serving stack, from its port to the die's edge, along it, and into the L2 band. */
  tracks(): Vec3[][] {
    const y = this.site.dieTop + 0.1;
    const [, bandZ, , depth] = this.site.l2[0] as Rect;
    return this.site.stacks.flatMap((box) => {
      const side = Math.sign(box.min[0] + box.max[0]);
      const inner = side < 0 ? box.max[0] : box.min[0];
      const start = inner + side * (box.max[0] - box.min[0]) * PORT * 0.5;
      const edge = (side < 0 ? this.site.die.min[0] : this.site.die.max[0]) - side * 1.3;
      const band = this.site.l2.reduce((far, [x, , w]) => (x * side > 0 ? x + (side * w) / 2 : far), 0);
      return [0, 1, 2, 3, 4, 5].map((kind): Vec3[] => {
        const z = trackZ(box, kind);
        const into = Math.max(bandZ - depth / 2 + 0.5, Math.min(bandZ + depth / 2 - 0.5, z));
        return [
          [start, y, z],
          [edge, y, z],
          [edge, y, into],
          [band, y, into],
        ];
      });
    });
  }

  /**
   * Writes where a tile is, in mm on the closed package, and its size as a share of a tile's: four numbers. Returns how
   * far it is from HBM: 0 on a stack … 1 on the die.
   */
  place(tile: FlowTile, out: Float32Array): number {
    const { leg } = tile;
    out[3] = 1;
    if (leg === "in_l2") {
      if (this.waiting.includes(tile.tensor)) out[3] = this.waitingScale;
      this.slot(tile.tensor, tile.m, tile.n, out);
      return 1;
    }
    if (leg === "on_sm") {
      this.bench(tile.tensor, tile.row, out);
      // A row of scores that waits for its softmax lies in a pile.
      if (sideOf(tile.tensor) === "mn") out[1] = (out[1] as number) + Math.max(0, tile.n) * 0.05;
      return 1;
    }
    if (leg === "hbm_to_l2" || leg === "l2_to_hbm") {
      const k = leg === "hbm_to_l2" ? tile.k : 1 - tile.k;
      this.hbmLane(tile).at(k, out);
      return clamp(k * 2, 0, 1);
    }
    const lane = this.smLane(tile);
    lane.at(leg === "l2_to_sm" ? tile.k : 1 - tile.k, out);
    return 1;
  }

  /** Parking place in the L2: a row for each matrix that waits there; what only passes has a height and track of its own. */
  private slot(tensor: Tensor, m: number, n: number, out: Float32Array): void {
    const index = ownIndex(tensor, m, n);
    const column = index % this.columns;
    const sub = Math.floor(index / this.columns) % this.spread;
    const kind = this.waiting.indexOf(tensor);
    const rows = Math.max(2, this.waiting.length) * this.spread;
    out[0] = this.bandX + column * this.pitchX;
    out[1] = this.site.dieTop + REST + (kind < 0 ? CRUISE * 0.6 : 0);
    out[2] = this.bandZ + (kind < 0 ? (rows - 1) * passing(tensor) : kind * this.spread + sub) * this.pitchZ;
  }

  private bench(tensor: Tensor, row: number, out: Float32Array): void {
    const centre = this.benches[Math.max(0, row)] as Vec3;
    const [across, along] = BENCH[tensor];
    out[0] = centre[0] + across * this.tile * PITCH;
    out[1] = centre[1] + REST;
    out[2] = centre[2] + along * this.tile * PITCH;
  }

  private hbmLane(tile: FlowTile): Polyline {
    const { tensor, m, n } = tile;
    const blocks = Math.max(this.blocksM, this.blocksN);
    const kind = TRACK[tensor];
    const key = (KINDS.indexOf(tensor) * (blocks + 1) + m + 1) * (blocks + 1) + n + 1;
    const known = this.lanes.get(key);
    if (known) return known;
    const box = this.site.stacks[this.stackOf(tensor, m, n)] as Box;
    const side = Math.sign(box.min[0] + box.max[0]);
    const top = this.site.dieTop;
    const inner = side < 0 ? box.max[0] : box.min[0];
    const z = trackZ(box, kind);
    const end = new Float32Array(4);
    this.slot(tensor, m, n, end);
    const dieEdge = (side < 0 ? this.site.die.min[0] : this.site.die.max[0]) - side * 1.3;
    const port: Vec3 = [inner + side * (box.max[0] - box.min[0]) * PORT * 0.5, top + CRUISE, z];
    const start: Vec3[] = [[port[0], top - 0.9, z], port];
    if (sideOf(tensor) === "mn") {
      const [x, cz] = this.storedCell(tensor === "p" ? 1 : tensor === "ds" ? 2 : 0, m, n);
      start.splice(0, 2, [x, top + REST, cz], [x, top + CRUISE, cz], [port[0], top + CRUISE, z]);
    }
    const slot: Vec3 = [end[0] as number, end[1] as number, end[2] as number];
    const made = new Polyline(
      [...start, [dieEdge, top + CRUISE, z], [dieEdge, top + CRUISE, slot[2]], [slot[0], top + CRUISE, slot[2]], slot],
      1.1,
    );
    this.lanes.set(key, made);
    return made;
  }

  private smLane(tile: FlowTile): Polyline {
    const { tensor, m, n, row } = tile;
    const blocks = Math.max(this.blocksM, this.blocksN);
    const index = ownIndex(tensor, m, n);
    const key = -((KINDS.indexOf(tensor) * (blocks + 1) + index + 1) * (blocks + 1) + row + 1) - 1;
    const known = this.lanes.get(key);
    if (known) return known;
    const from = new Float32Array(4);
    const to = new Float32Array(4);
    this.slot(tensor, m, n, from);
    this.bench(tensor, row, to);
    const high = this.site.dieTop + CRUISE;
    const a: Vec3 = [from[0] as number, from[1] as number, from[2] as number];
    const b: Vec3 = [to[0] as number, to[1] as number, to[2] as number];
    const made = new Polyline([a, [a[0], high, a[2]], [b[0], high, a[2]], [b[0], high, b[2]], b], 1.1);
    this.lanes.set(key, made);
    return made;
  }

  /**
   * Rows, or columns, are dealt to GPCs in reading order; several rows of one GPC share its plate. Returns the side of a
   * tile: the largest that lets neighbouring workbenches of `high` rows stand clear of each other.
   */
  private placeBenches(most: number, high: number): number {
    const order = [...this.site.gpc].sort((a, b) => a[1] - b[1] || a[0] - b[0]);
    const perGpc = Math.ceil(most / order.length);
    const across = perGpc > 2 ? 2 : 1;
    const along = Math.ceil(perGpc / across);
    const [, , width, depth] = order[0] as Rect;
    const wanted = most <= 8 ? 1.95 : most <= 16 ? 1.5 : 1.06;
    const tile = Math.min(wanted, width / across / (2 * PITCH), depth / along / (high * PITCH));
    for (let row = 0; row < most; row++) {
      const gpc = order[Math.floor(row / perGpc)] as Rect;
      const place = row % perGpc;
      const x = gpc[0] + ((place % across) - (across - 1) / 2) * (gpc[2] / across);
      const z = gpc[1] + (Math.floor(place / across) - (along - 1) / 2) * (gpc[3] / along);
      this.benches.push([x, this.site.dieTop, z]);
      let nearest = 0;
      let best = Number.POSITIVE_INFINITY;
      this.site.sm.forEach(([sx, sz], i) => {
        const away = Math.hypot(sx - x - tile * 0.5, sz - z);
        if (away < best) [best, nearest] = [away, i];
      });
      this.sms.push(nearest);
    }
    return tile;
  }
}

/** Where in the L2 band, 0…1 across it, a matrix passes that does not wait there. */
function passing(tensor: Tensor): number {
  return TRACK[tensor] / 5;
}

/** Every matrix has its own track out of a stack. */
function trackZ(box: Box, kind: number): number {
  return (box.min[2] + box.max[2]) / 2 + (kind - 2.5) * 0.9;
}
