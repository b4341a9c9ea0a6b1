/*
 * The laboratory's part of the address. A second setting is one value: "seqlen:8192,head_dim:64" lists what differs from
 * the defaults, "default" means none of it does. A guess is its value and the length it was asked at: "2@4096".
 */
import { type Reader, reader } from "./reader";
import { type Choices, DEFAULTS, type ExhibitState, type Guess, type Setting } from "./types";

export const LONGEST_SEQLEN = 1_048_576;
const DIRECTIONS = ["forward", "backward"] as const;
const DTYPES = ["fp16", "bf16", "fp8", "fp32"] as const;
const BROKEN = ["no_rescale", "no_running_max", "keep_s"] as const;
const QUESTIONS = ["n", "d"] as const;
const ALL_DEFAULT = "default";
const SMALLEST_GUESS = 0.01;
const LARGEST_GUESS = 1000;

/** Every key of a setting and its name in the address, which is also the API's name for it. */
export const SETTING_NAMES: { readonly [K in keyof Setting]: string } = {
  seqlen: "seqlen",
  headDim: "head_dim",
  blockM: "block_m",
  blockN: "block_n",
  direction: "direction",
  causal: "causal",
  dtype: "dtype",
  batch: "batch",
  numHeads: "num_heads",
  numHeadsKv: "num_heads_kv",
  gpu: "gpu",
};
const KEYS = Object.keys(SETTING_NAMES) as (keyof Setting)[];

export function settingOf(state: Readonly<Setting>): Setting {
  return Object.fromEntries(KEYS.map((key) => [key, state[key]])) as unknown as Setting;
}

/** The laboratory's part of a state. */
export function labOf(state: Readonly<ExhibitState>): LabState {
  const { compare, broken, ask, guessN, guessD } = state;
  return { ...settingOf(state), compare, broken, ask, guessN, guessD };
}

export function sameSetting(a: Readonly<Setting>, b: Readonly<Setting>): boolean {
  return KEYS.every((key) => a[key] === b[key]);
}

export function readSetting(read: Reader, choices: Choices): Setting {
  const numHeads = read.nearest("num_heads", DEFAULTS.numHeads, choices.heads);
  const shared = choices.heads.filter((heads) => numHeads % heads === 0);
  const numHeadsKv = read.nearest("num_heads_kv", null, shared);
  return {
    seqlen: read.whole("seqlen", DEFAULTS.seqlen, 1, LONGEST_SEQLEN),
    headDim: read.nearest("head_dim", DEFAULTS.headDim, choices.headDims),
    blockM: read.nearest("block_m", DEFAULTS.blockM, choices.blockRows),
    blockN: read.nearest("block_n", DEFAULTS.blockN, choices.blockRows),
    direction: read.oneOf("direction", DEFAULTS.direction, DIRECTIONS),
    causal: read.flag("causal", DEFAULTS.causal),
    dtype: read.oneOf("dtype", DEFAULTS.dtype, DTYPES),
    batch: read.nearest("batch", DEFAULTS.batch, choices.batches),
    numHeads,
    numHeadsKv: numHeadsKv === numHeads ? null : numHeadsKv,
    gpu: read.oneOf("gpu", DEFAULTS.gpu, choices.gpus as readonly Setting["gpu"][]),
  };
}

export type LabState = Setting & Pick<ExhibitState, "compare" | "broken" | "ask" | "guessN" | "guessD">;

export function readLab(read: Reader, choices: Choices, notes: string[]): LabState {
  return {
    ...readSetting(read, choices),
    compare: readCompare(read.text("compare"), choices, notes),
    broken: read.oneOf("broken", null, BROKEN),
    ask: read.oneOf("ask", null, QUESTIONS),
    guessN: readGuess(read, "guess_n"),
    guessD: readGuess(read, "guess_d"),
  };
}

function readCompare(text: string | null, choices: Choices, notes: string[]): Setting | null {
  if (text === null) return null;
  const parts = new Map<string, string>();
  const known = Object.values(SETTING_NAMES);
  const read = reader((name) => parts.get(name) ?? null, notes, "compare: ");
  for (const part of text === ALL_DEFAULT ? [] : text.split(",")) {
    const [name = "", value] = part.split(":", 2);
    if (value === undefined || !known.includes(name)) read.noted(name, value ?? "", null);
    else parts.set(name, value);
  }
  return readSetting(read, choices);
}

function readGuess(read: Reader, name: string): Guess | null {
  const text = read.text(name);
  if (text === null) return null;
  const [value, at, more] = text.split("@").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (value === undefined || at === undefined || more !== undefined || !(value > 0) || !Number.isFinite(value))
    return read.noted(name, text, null);
  if (!Number.isInteger(at) || at < 1 || at > LONGEST_SEQLEN) return read.noted(name, text, null);
  const near = Math.min(LARGEST_GUESS, Math.max(SMALLEST_GUESS, value));
  if (near !== value) read.noted(name, text, near);
  return { value: near, at };
}

/** Adds what differs from the defaults. */
export function writeLab(query: URLSearchParams, state: Readonly<LabState>): void {
  for (const [name, value] of written(state)) query.set(name, value);
  if (state.compare) {
    const parts = written(state.compare).map(([name, value]) => `${name}:${value}`);
    query.set("compare", parts.join(",") || ALL_DEFAULT);
  }
  if (state.broken) query.set("broken", state.broken);
  if (state.ask) query.set("ask", state.ask);
  if (state.guessN) query.set("guess_n", `${state.guessN.value}@${state.guessN.at}`);
  if (state.guessD) query.set("guess_d", `${state.guessD.value}@${state.guessD.at}`);
}

function written(setting: Readonly<Setting>): [string, string][] {
  return KEYS.filter((key) => setting[key] !== DEFAULTS[key]).map((key) => {
    const value = setting[key];
    return [SETTING_NAMES[key], typeof value === "boolean" ? (value ? "1" : "0") : String(value)];
  });
}
