/* The address and the state, both ways: what is written is read back, and nothing damaged gets through. */
import { describe, expect, it } from "vitest";
import { type Choices, DEFAULTS, type ExhibitState } from "../../../static/src/state/types";
import { decode, encode } from "../../../static/src/state/url";

const CHOICES: Choices = {
  seqlens: [512, 1024, 4096, 65536],
  headDims: [64, 128, 256],
  blockRows: [64, 96, 128, 192, 256],
  gpus: ["a100_sxm4_40", "a100_sxm4_80", "h100_sxm5", "h200_sxm"],
};

/** A small generator with a fixed seed, so that a failure can be repeated. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

function pick<T>(items: readonly T[], draw: () => number): T {
  return items[Math.floor(draw() * items.length)] as T;
}

function anyState(draw: () => number): ExhibitState {
  const share = () => pick([null, 0, 1, Math.round(draw() * 100) / 100], draw);
  return {
    seqlen: 1 + Math.floor(draw() * 1_048_576),
    headDim: pick(CHOICES.headDims, draw),
    blockM: pick(CHOICES.blockRows, draw),
    blockN: pick(CHOICES.blockRows, draw),
    causal: draw() < 0.5,
    direction: pick(["forward", "backward"] as const, draw),
    twin: draw() < 0.5,
    parallel: draw() < 0.5,
    follow: pick([null, "q0", "k3", "dv12", "s2.5", "ds0.31"], draw),
    plaque: pick([null, true, false], draw),
    cut: pick([null, "none", "z0.36", "x-1", "z1", "x-0.07"], draw),
    open: share(),
    thickness: share(),
    isolate: pick([null, "substrate", "interposer", "moulding", "gpu_die", "hbm"] as const, draw),
    die: pick([null, "gpc_7", "tpc_0", "sm_143"], draw),
    gpu: pick(CHOICES.gpus, draw) as ExhibitState["gpu"],
    algorithm: pick([null, "standard", "fa1", "fa2", "none"] as const, draw),
    explode: share(),
    moment: share(),
    labels: draw() < 0.5,
    theme: pick(["gallery", "dark", "projector"] as const, draw),
    tier: pick(["high", "medium", "low", "auto"] as const, draw),
    t: share(),
  };
}

describe("address and state", () => {
  it("writes nothing for the defaults", () => {
    expect(encode(DEFAULTS)).toBe("");
    expect(decode("", CHOICES)).toEqual({ state: DEFAULTS, notes: [] });
  });

  it("reads back 200 random states", () => {
    const draw = random(7);
    for (let i = 0; i < 200; i++) {
      const state = anyState(draw);
      expect(decode(encode(state), CHOICES)).toEqual({ state, notes: [] });
    }
  });

  it.each([
    ["seqlen=0", "seqlen", 1],
    ["seqlen=99999999", "seqlen", 1_048_576],
    ["seqlen=abc", "seqlen", DEFAULTS.seqlen],
    ["seqlen=", "seqlen", DEFAULTS.seqlen],
    ["seqlen=12.6", "seqlen", 13],
    ["head_dim=100", "headDim", 128],
    ["head_dim=1e9", "headDim", 256],
    ["block_m=-1", "blockM", 64],
    ["gpu=b200", "gpu", DEFAULTS.gpu],
    ["causal=yes", "causal", DEFAULTS.causal],
    ["algorithm=fa9", "algorithm", null],
    ["direction=sideways", "direction", "forward"],
    ["twin=both", "twin", false],
    ["parallel=2", "parallel", false],
    ["follow=s3", "follow", null],
    ["follow=k1.2", "follow", null],
    ["follow=x1", "follow", null],
    ["plaque=maybe", "plaque", null],
    ["die=sm", "die", null],
    ["die=core_3", "die", null],
    ["explode=2", "explode", 1],
    ["explode=NaN", "explode", null],
    ["moment=-0.5", "moment", 0],
    ["t=Infinity", "t", null],
    ["theme=neon", "theme", "gallery"],
    ["tier=ultra", "tier", "auto"],
  ] as const)("mends %s with a note", (search, key, expected) => {
    const { state, notes } = decode(`?${search}`, CHOICES);
    expect(state[key]).toBe(expected);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain(search.split("=")[0]);
  });

  it("survives anything", () => {
    for (const search of ["?%", "?seqlen=%FF", "?=&&=", `?gpu=${"x".repeat(10_000)}`, "?seqlen[]=5"]) {
      const { state, notes } = decode(search, CHOICES);
      expect(decode(encode(state), CHOICES).state).toEqual(state);
      for (const note of notes) expect(note.length).toBeLessThan(120);
    }
  });
});
