/* The reader's whole state: everything here is in the address, and nothing that matters is anywhere else. */

export type Gpu = "a100_sxm4_40" | "a100_sxm4_80" | "h100_sxm5" | "h200_sxm";
export type Algorithm = "standard" | "fa1" | "fa2" | "none";
export type Direction = "forward" | "backward";
export type Isolate = "substrate" | "interposer" | "moulding" | "gpu_die" | "hbm";
export type ThemeName = "gallery" | "dark" | "projector";
/** Who reads: new to GPUs, knows GPUs, writes kernels. */
export type Level = "new" | "know" | "write";
export type TierName = "high" | "medium" | "low" | "auto";

export type Dtype = "fp16" | "bf16" | "fp8" | "fp32";
export type Broken = "no_rescale" | "no_running_max" | "keep_s";
/** The two moments at which the laboratory asks before it shows: double N, and d from 64 to 128. */
export type Question = "n" | "d";

/** Everything a count depends on. */
export interface Setting {
  seqlen: number;
  headDim: number;
  blockM: number;
  blockN: number;
  direction: Direction;
  causal: boolean;
  dtype: Dtype;
  batch: number;
  numHeads: number;
  /** Key/value heads; null: as many as query heads. */
  numHeadsKv: number | null;
  gpu: Gpu;
}

/** What the reader committed to, and the length at which the question was asked. */
export interface Guess {
  value: number;
  at: number;
}

export interface ExhibitState extends Setting {
  /** A second setting kept beside the current one. */
  compare: Setting | null;
  broken: Broken | null;
  ask: Question | null;
  guessN: Guess | null;
  guessD: Guess | null;
  /** Whose tiles fly; null leaves it to the chapter, and the direction with it. */
  algorithm: Algorithm | null;
  /** The standard way and FlashAttention side by side. */
  twin: boolean;
  /** Every SM at work at once, instead of one after the other. */
  parallel: boolean;
  /** The tile the camera follows, as matrix and block: "k3". */
  follow: string | null;
  /** The block diagram over the die; null leaves it to the chapter. */
  plaque: boolean | null;
  /** What is picked on the die: "gpc_0", "tpc_4", "sm_17". */
  die: string | null;
  /** 0 assembled … 1 apart; null leaves it to the chapter. */
  explode: number | null;
  /** The plane of a cut: axis and place, −1 … 1, as in "z0.36"; "none" for the whole package; null leaves it to the chapter. */
  cut: string | null;
  /** 0 closed … 1: the stack that opens into its layers; null leaves it to the chapter. */
  open: number | null;
  /** 1 as drawn, four times too tall … 0 true; null is as drawn. */
  thickness: number | null;
  /** The group shown alone. */
  isolate: Isolate | null;
  /** Moment in the schedule as a share of it, 0 … 1; null leaves it to the chapter. */
  moment: number | null;
  labels: boolean;
  theme: ThemeName;
  level: Level;
  /** Present mode: one step at a time, no scrolling. */
  present: boolean;
  tier: TierName;
  /** A fixed clock, 0 … 1: nothing moves by itself, for pictures and lessons. */
  t: number | null;
}

/** What the controls offer, as the server lists it. */
export interface Choices {
  seqlens: readonly number[];
  headDims: readonly number[];
  blockRows: readonly number[];
  heads: readonly number[];
  batches: readonly number[];
  gpus: readonly string[];
}

export const DEFAULTS: Readonly<ExhibitState> = {
  seqlen: 4096,
  headDim: 128,
  blockM: 128,
  blockN: 128,
  direction: "forward",
  causal: false,
  dtype: "fp16",
  batch: 1,
  numHeads: 1,
  numHeadsKv: null,
  gpu: "h100_sxm5",
  compare: null,
  broken: null,
  ask: null,
  guessN: null,
  guessD: null,
  algorithm: null,
  twin: false,
  parallel: false,
  follow: null,
  plaque: null,
  die: null,
  explode: null,
  cut: null,
  open: null,
  thickness: null,
  isolate: null,
  moment: null,
  labels: true,
  theme: "gallery",
  level: "new",
  present: false,
  tier: "auto",
  t: null,
};
