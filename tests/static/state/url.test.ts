/* The address and the state, both ways: what is written is read back, and nothing damaged gets through. */
import { describe, expect, it } from "vitest";
import { settingOf } from "../../../static/src/state/setting";
import { type Choices, DEFAULTS, type ExhibitState, type Guess, type Setting } from "../../../static/src/state/types";
import { decode, encode } from "../../../static/src/state/url";

const CHOICES: Choices = {
  seqlens: [512, 1024, 4096, 65536],
  headDims: [64, 128, 256],
  blockRows: [64, 96, 128, 192, 256],
  heads: [1, 2, 4, 8, 16, 32, 64],
  batches: [1, 2, 4, 8, 16, 32, 64],
  gpus: ["a100_sxm4_40", "a100_sxm4_80", "h100_sxm5", "h200_sxm"],
};

const DEFAULT_SETTING = settingOf(DEFAULTS);

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

function anySetting(draw: () => number): Setting {
  const numHeads = pick(CHOICES.heads, draw);
  const fewer = CHOICES.heads.filter((heads) => heads < numHeads && numHeads % heads === 0);
  return {
    seqlen: 1 + Math.floor(draw() * 1_048_576),
    headDim: pick(CHOICES.headDims, draw),
    blockM: pick(CHOICES.blockRows, draw),
    blockN: pick(CHOICES.blockRows, draw),
    direction: pick(["forward", "backward"] as const, draw),
    causal: draw() < 0.5,
    dtype: pick(["fp16", "bf16", "fp8", "fp32"] as const, draw),
    batch: pick(CHOICES.batches, draw),
    numHeads,
    numHeadsKv: pick([null, ...fewer], draw),
    gpu: pick(CHOICES.gpus, draw) as Setting["gpu"],
  };
}

function anyGuess(draw: () => number): Guess | null {
  if (draw() < 0.5) return null;
  return { value: 0.01 + Math.round(draw() * 99_900) / 100, at: 1 + Math.floor(draw() * 1_048_576) };
}

function anyState(draw: () => number): ExhibitState {
  const share = () => pick([null, 0, 1, Math.round(draw() * 100) / 100], draw);
  return {
    ...anySetting(draw),
    compare: pick([null, DEFAULT_SETTING, anySetting(draw), anySetting(draw)], draw),
    broken: pick([null, "no_rescale", "no_running_max", "keep_s"] as const, draw),
    ask: pick([null, "n", "d"] as const, draw),
    guessN: anyGuess(draw),
    guessD: anyGuess(draw),
    algorithm: pick([null, "standard", "fa1", "fa2", "none"] as const, draw),
    twin: draw() < 0.5,
    parallel: draw() < 0.5,
    follow: pick([null, "q0", "k3", "dv12", "s2.5", "ds0.31"], draw),
    plaque: pick([null, true, false], draw),
    cut: pick([null, "none", "z0.36", "x-1", "z1", "x-0.07"], draw),
    open: share(),
    thickness: share(),
    isolate: pick([null, "substrate", "interposer", "moulding", "gpu_die", "hbm"] as const, draw),
    die: pick([null, "gpc_7", "tpc_0", "sm_143"], draw),
    explode: share(),
    moment: share(),
    labels: draw() < 0.5,
    theme: pick(["gallery", "dark", "projector"] as const, draw),
    level: pick(["new", "know", "write"] as const, draw),
    present: pick([true, false], draw),
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
    ["direction=up", "direction", "forward"],
    ["dtype=int4", "dtype", "fp16"],
    ["num_heads=3", "numHeads", 2],
    ["num_heads_kv=5", "numHeadsKv", null],
    ["batch=0", "batch", 1],
    ["broken=all", "broken", null],
    ["ask=why", "ask", null],
    ["guess_n=2", "guessN", null],
    ["guess_n=-2@4096", "guessN", null],
    ["guess_n=2@0", "guessN", null],
    ["guess_d=2@4096@1", "guessD", null],
    ["guess_d=@", "guessD", null],
  ] as const)("mends %s with a note", (search, key, expected) => {
    const { state, notes } = decode(`?${search}`, CHOICES);
    expect(state[key]).toBe(expected);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain(search.split("=")[0]);
  });

  it("clamps a guess that is out of range", () => {
    const { state, notes } = decode("?guess_n=5000@4096", CHOICES);
    expect(state.guessN).toEqual({ value: 1000, at: 4096 });
    expect(notes).toHaveLength(1);
  });

  it("mends a kept setting part by part, each with its note", () => {
    const search = "?compare=seqlen:8192,head_dim:90,colour:red,nonsense,gpu:b200";
    const { state, notes } = decode(search, CHOICES);
    expect(state.compare).toEqual({ ...DEFAULT_SETTING, seqlen: 8192, headDim: 64 });
    expect(notes).toHaveLength(4);
    for (const note of notes) expect(note.startsWith("compare: ")).toBe(true);
  });

  it("tells a kept default setting from none", () => {
    expect(encode({ ...DEFAULTS, compare: DEFAULT_SETTING })).toBe("?compare=default");
    expect(decode("?compare=default", CHOICES).state.compare).toEqual(DEFAULT_SETTING);
    expect(decode("", CHOICES).state.compare).toBeNull();
  });

  it("survives anything", () => {
    for (const search of ["?%", "?seqlen=%FF", "?=&&=", `?gpu=${"x".repeat(10_000)}`, "?seqlen[]=5", "?compare=,:,::,", "?compare=%00"]) {
      const { state, notes } = decode(search, CHOICES);
      expect(decode(encode(state), CHOICES).state).toEqual(state);
      for (const note of notes) expect(note.length).toBeLessThan(120);
    }
  });
});
