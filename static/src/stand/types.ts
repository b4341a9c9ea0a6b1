/*
 * What the stand is told and what it reports: one typed state in, picks and camera changes out.
 * The stand knows no chapter, no store and no formula; bytes arrive with the moves of a schedule.
 */

export type Tier = "high" | "medium" | "low";
export type Theme = "gallery" | "dark" | "projector";
export type Level = "hbm" | "l2" | "sm";
export type Tensor =
  | "q"
  | "k"
  | "v"
  | "s"
  | "p"
  | "o"
  | "o_acc"
  | "stats"
  | "lse"
  | "delta"
  | "do"
  | "dq"
  | "dq_acc"
  | "dk"
  | "dv"
  | "dp"
  | "ds";
export type PoseName = "hero" | "levels" | "flow" | "section" | "die" | "stack" | "exploded" | "grid";

/** One tile crossing one line, as `/api/schedule` lists it. */
export interface Move {
  step: number;
  tensor: Tensor;
  m_block: number | null;
  n_block: number | null;
  source: Level;
  target: Level;
  bytes: number;
}

/** The score block being worked on during a step. */
export interface Compute {
  step: number;
  m_block: number;
  n_block: number;
}

export type Algorithm = "standard" | "fa1" | "fa2";
export type Direction = "forward" | "backward";

/** What one SM does, where several work at once: its own moves and score blocks, all of them also in the schedule's. */
export interface Strand {
  /** Which SM, by the row or column of blocks it owns. */
  owner: number;
  moves: readonly Move[];
  computes: readonly Compute[];
}

export interface Schedule {
  algorithm: Algorithm;
  direction: Direction;
  blocks_m: number;
  blocks_n: number;
  num_steps: number;
  moves: readonly Move[];
  computes: readonly Compute[];
  /** Several SMs at once; left out: one after the other. */
  strands?: readonly Strand[];
}

/** A schedule and a moment in it: `time` counts steps and may be fractional, 0 … num_steps. */
export interface Flow {
  schedule: Schedule;
  time: number;
}

/** A tile by matrix and blocks; −1 where it has no such side. */
export interface Followed {
  tensor: Tensor;
  m: number;
  n: number;
}

/** A cluster, a pair or a single SM on the die, by its index among all of the kind. */
export interface DiePick {
  kind: "gpc" | "tpc" | "sm";
  index: number;
}

/** A plane across the package; what lies beyond it, towards +x or +z, is taken away and every solid shows its section. */
export interface Cut {
  axis: "x" | "z";
  /** −1 … 1 over the package's width on that axis; 1 takes nothing away. */
  at: number;
}

/** A bar: its height as a share of the tallest that can be, and the matrix whose colour it has. */
export interface Bar {
  share: number;
  tint: Tensor;
  /** Its turn is still to come: grey. */
  waiting?: boolean;
}

/** Something of a chart that carries a name: the bar it stands over, and the words. */
export interface ChartNote {
  bar: number;
  text: string;
}

/** Work on an SM over time, in units that the reader is told are not to scale. */
export interface Span {
  row: number;
  start: number;
  stop: number;
  work: "load" | "matmul" | "softmax";
  text: string;
}

/** Bars in a row over the die, columns beside the package, or a timeline on a board over the die. */
export type Chart =
  | { kind: "row" | "columns"; bars: readonly Bar[]; notes: readonly ChartNote[] }
  | { kind: "timeline"; rows: readonly string[]; spans: readonly Span[] };

/** What can be shown alone, on the base. */
export type IsolateName = "substrate" | "interposer" | "moulding" | "gpu_die" | "hbm";

export interface StandState {
  pose: PoseName;
  /** 0 assembled … 1 fully apart. */
  explode: number;
  /**
   * Parts that stay bright while the rest fades; empty means all. Besides part ids: "hbm" for all stacks, and
   * "l2", "sm", "gpc", "memory_controller" for regions of the die.
   */
  lit: readonly string[];
  /** Callouts with leader lines for the main parts. */
  labels: boolean;
  /** The N×N grid of score blocks drawn above the die (filled into HBM by the standard way). */
  grid: boolean;
  flow: Flow | null;
  /** A second flow on the same clock: `flow` then takes the left half of the package and this one the right. */
  twin?: Flow | null;
  /** The tile of `flow` that the camera follows. */
  follow?: Followed | null;
  /** The block diagram of the full chip, floating over the die. */
  plaque?: boolean;
  /** What is picked on the die; an SM opens into its four quarters. */
  die?: DiePick | null;
  /** Values of the text, set up on the package. */
  chart?: Chart | null;
  theme: Theme;
  /** Left out or null: whole. */
  cut?: Cut | null;
  /** 0 (left out) closed … 1: the stack at the sixth site opened into its base die and DRAM layers. */
  open?: number;
  /** 1 (left out): thicknesses four times too tall, as the model draws them … 0: true. The base is never scaled. */
  thickness?: number;
  /** Left out or null: everything. Whatever else there is fades and then vanishes; the base stays. */
  isolate?: IsolateName | null;
}

/** A part as the model describes it; `facts` are ledger ids. */
export interface Part {
  id: string;
  title: string;
  what: string;
  facts: readonly string[];
}

export interface StandOptions {
  modelUrl: string;
  tier: Tier | "auto";
  /** Cut between states instead of flying. */
  reducedMotion: boolean;
  /** Freeze every transition at its end, for pictures and tests. */
  frozen: boolean;
  seed: number;
  state: StandState;
  /** What a screen reader says for the canvas. */
  label?: string;
  onPick?: (part: Part | null) => void;
  onHover?: (part: Part | null) => void;
  /** True once the reader has moved the camera, false when the pose has it back. */
  onCameraTaken?: (taken: boolean) => void;
  /** The reader has moved the plane of the cut on the stand itself. */
  onCut?: (cut: Cut) => void;
  /** The reader has picked a tile in flight or at rest. */
  onPickTile?: (tile: Followed) => void;
  onContextLost?: () => void;
  /** The device came back and the same picture is being drawn again. */
  onContextRestored?: () => void;
}

export interface StandStats {
  frames: number;
  drawCalls: number;
  triangles: number;
  tier: Tier;
  /** What the device holds; does not grow with use. */
  geometries: number;
  textures: number;
  programs: number;
}

export interface Stand {
  set(patch: Partial<StandState>): void;
  readonly state: StandState;
  /** How many times too tall the model draws thicknesses above the base. */
  readonly thicknessFactor: number;
  parts(): readonly Part[];
  /** How many clusters, pairs or SMs the die has. */
  dieCount(kind: DiePick["kind"]): number;
  /** Where the middle of a part stands now, in millimetres of the model; null for an unknown part. */
  partCentre(id: string): readonly [number, number, number] | null;
  /** Id of the part seen at a place in px from the canvas' top left; null for none. */
  partAt(x: number, y: number): string | null;
  /** Marks a part as picked (from a list, say) or clears the pick. */
  pick(id: string | null): void;
  /** Gives the camera back to the authored pose. */
  returnCamera(): void;
  /** Resolves when no transition is running and the last frame is drawn. */
  settled(): Promise<void>;
  stats(): StandStats;
  dispose(): void;
}
