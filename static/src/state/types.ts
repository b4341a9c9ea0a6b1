/* The reader's whole state: everything here is in the address, and nothing that matters is anywhere else. */

export type Gpu = "a100_sxm4_40" | "a100_sxm4_80" | "h100_sxm5" | "h200_sxm";
export type Algorithm = "standard" | "fa2" | "none";
export type ThemeName = "gallery" | "dark" | "projector";
/** Who reads: new to GPUs, knows GPUs, writes kernels. */
export type Level = "new" | "know" | "write";
export type TierName = "high" | "medium" | "low" | "auto";

export interface ExhibitState {
  seqlen: number;
  headDim: number;
  blockM: number;
  blockN: number;
  causal: boolean;
  gpu: Gpu;
  /** Whose tiles fly; null leaves it to the chapter. */
  algorithm: Algorithm | null;
  /** 0 assembled … 1 apart; null leaves it to the chapter. */
  explode: number | null;
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
  gpus: readonly string[];
}

export const DEFAULTS: Readonly<ExhibitState> = {
  seqlen: 4096,
  headDim: 128,
  blockM: 128,
  blockN: 128,
  causal: false,
  gpu: "h100_sxm5",
  algorithm: null,
  explode: null,
  moment: null,
  labels: true,
  theme: "gallery",
  level: "new",
  present: false,
  tier: "auto",
  t: null,
};
