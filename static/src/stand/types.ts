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

export interface Schedule {
  algorithm: "standard" | "fa2";
  blocks_m: number;
  blocks_n: number;
  num_steps: number;
  moves: readonly Move[];
  computes: readonly Compute[];
}

/** A schedule and a moment in it: `time` counts steps and may be fractional, 0 … num_steps. */
export interface Flow {
  schedule: Schedule;
  time: number;
}

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
  theme: Theme;
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
  onContextLost?: () => void;
  /** The device came back and the same picture is being drawn again. */
  onContextRestored?: () => void;
}

export interface StandStats {
  frames: number;
  drawCalls: number;
  triangles: number;
  tier: Tier;
}

export interface Stand {
  set(patch: Partial<StandState>): void;
  readonly state: StandState;
  parts(): readonly Part[];
  /** Where the middle of a part stands now, in millimetres of the model; null for an unknown part. */
  partCentre(id: string): readonly [number, number, number] | null;
  /** Marks a part as picked (from a list, say) or clears the pick. */
  pick(id: string | null): void;
  /** Gives the camera back to the authored pose. */
  returnCamera(): void;
  /** Resolves when no transition is running and the last frame is drawn. */
  settled(): Promise<void>;
  stats(): StandStats;
  dispose(): void;
}
