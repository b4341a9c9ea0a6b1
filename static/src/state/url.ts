/*
 * The address and the state, both ways. Only what differs from the defaults is written. A value that cannot be used is
 * replaced by the nearest one that can, and a note says so: a damaged link never leads to an error.
 */
import { type Choices, DEFAULTS, type ExhibitState } from "./types";

export interface Decoded {
  state: ExhibitState;
  notes: string[];
}

const LONGEST_SEQLEN = 1_048_576;
const THEMES = ["gallery", "dark", "projector"] as const;
const TIERS = ["high", "medium", "low", "auto"] as const;
const ISOLATES = ["substrate", "interposer", "moulding", "gpu_die", "hbm"] as const;
const ALGORITHMS = ["standard", "fa1", "fa2", "none"] as const;
const DIRECTIONS = ["forward", "backward"] as const;
/** A tile: the matrix and its block, or its two blocks for scores ("s2.5"). */
const TILE = /^(q|k|v|o|do|dq|dk|dv)\d{1,2}$|^(s|p|dp|ds)\d{1,2}\.\d{1,2}$/;
const PLANE = /^(none|[xz]-?(0(\.\d{1,4})?|1))$/;
const ON_DIE = /^(gpc|tpc|sm)_\d{1,3}$/;

export function decode(search: string, choices: Choices): Decoded {
  const query = new URLSearchParams(search);
  const notes: string[] = [];

  function whole(name: string, fallback: number, low: number, high: number): number {
    const text = query.get(name);
    if (text === null) return fallback;
    const value = Number(text);
    if (text.trim() === "" || !Number.isFinite(value)) return noted(name, text, fallback);
    const near = Math.min(high, Math.max(low, Math.round(value)));
    return near === value ? near : noted(name, text, near);
  }
  function share(name: string): number | null {
    const text = query.get(name);
    if (text === null) return null;
    const value = Number(text);
    if (text.trim() === "" || !Number.isFinite(value)) return noted(name, text, null);
    const near = Math.min(1, Math.max(0, value));
    return near === value ? near : noted(name, text, near);
  }
  function nearest(name: string, fallback: number, offered: readonly number[]): number {
    const value = whole(name, fallback, offered[0] ?? fallback, offered[offered.length - 1] ?? fallback);
    if (offered.includes(value)) return value;
    const near = [...offered].sort((a, b) => Math.abs(a - value) - Math.abs(b - value))[0] ?? fallback;
    return noted(name, query.get(name) ?? "", near);
  }
  function oneOf<T extends string, F extends T | null>(name: string, fallback: F, offered: readonly T[]): T | F {
    const text = query.get(name);
    if (text === null) return fallback;
    return (offered as readonly string[]).includes(text) ? (text as T) : noted(name, text, fallback);
  }
  function shaped(name: string, pattern: RegExp): string | null {
    const text = query.get(name);
    return text === null || pattern.test(text) ? text : noted(name, text, null);
  }
  function flag<F extends boolean | null>(name: string, fallback: F): boolean | F {
    const text = query.get(name);
    if (text === null) return fallback;
    if (text === "1" || text === "true") return true;
    return text === "0" || text === "false" ? false : noted(name, text, fallback);
  }
  function noted<V>(name: string, text: string, used: V): V {
    const shown = text.length > 20 ? `${text.slice(0, 20)}…` : text;
    notes.push(`${name}=${shown} cannot be used; ${used === null ? "it was left out" : `${used} stands instead`}.`);
    return used;
  }

  const state: ExhibitState = {
    seqlen: whole("seqlen", DEFAULTS.seqlen, 1, LONGEST_SEQLEN),
    headDim: nearest("head_dim", DEFAULTS.headDim, choices.headDims),
    blockM: nearest("block_m", DEFAULTS.blockM, choices.blockRows),
    blockN: nearest("block_n", DEFAULTS.blockN, choices.blockRows),
    causal: flag("causal", DEFAULTS.causal),
    direction: oneOf("direction", DEFAULTS.direction, DIRECTIONS),
    gpu: oneOf("gpu", DEFAULTS.gpu, choices.gpus as readonly ExhibitState["gpu"][]),
    algorithm: oneOf("algorithm", DEFAULTS.algorithm, ALGORITHMS),
    twin: flag("twin", DEFAULTS.twin),
    parallel: flag("parallel", DEFAULTS.parallel),
    follow: shaped("follow", TILE),
    plaque: flag("plaque", DEFAULTS.plaque),
    die: shaped("die", ON_DIE),
    explode: share("explode"),
    cut: shaped("cut", PLANE),
    open: share("open"),
    thickness: share("thickness"),
    isolate: oneOf("isolate", DEFAULTS.isolate, ISOLATES),
    moment: share("moment"),
    labels: flag("labels", DEFAULTS.labels),
    theme: oneOf("theme", DEFAULTS.theme, THEMES),
    tier: oneOf("tier", DEFAULTS.tier, TIERS),
    t: share("t"),
  };
  return { state, notes };
}

const NAMES: { readonly [K in keyof ExhibitState]: string } = {
  seqlen: "seqlen",
  headDim: "head_dim",
  blockM: "block_m",
  blockN: "block_n",
  causal: "causal",
  direction: "direction",
  gpu: "gpu",
  algorithm: "algorithm",
  twin: "twin",
  parallel: "parallel",
  follow: "follow",
  plaque: "plaque",
  die: "die",
  explode: "explode",
  cut: "cut",
  open: "open",
  thickness: "thickness",
  isolate: "isolate",
  moment: "moment",
  labels: "labels",
  theme: "theme",
  tier: "tier",
  t: "t",
};

/** The query string with a leading "?", or "" when everything stands at its default. */
export function encode(state: ExhibitState): string {
  const query = new URLSearchParams();
  for (const key of Object.keys(NAMES) as (keyof ExhibitState)[]) {
    const value = state[key];
    if (value === DEFAULTS[key] || value === null) continue;
    query.set(NAMES[key], typeof value === "boolean" ? (value ? "1" : "0") : String(value));
  }
  const text = query.toString();
  return text ? `?${text}` : "";
}
