/* The address and the state, both ways. Only what differs from the defaults is written; what is damaged is mended. */
import { reader } from "./reader";
import { readLab, writeLab } from "./setting";
import { type Choices, DEFAULTS, type ExhibitState, type Setting } from "./types";

export interface Decoded {
  state: ExhibitState;
  notes: string[];
}

const THEMES = ["gallery", "dark", "projector"] as const;
const LEVELS = ["new", "know", "write"] as const;
const TIERS = ["high", "medium", "low", "auto"] as const;
const ISOLATES = ["substrate", "interposer", "moulding", "gpu_die", "hbm"] as const;
const ALGORITHMS = ["standard", "fa1", "fa2", "none"] as const;
/** A tile: the matrix and its block, or its two blocks for scores ("s2.5"). */
const TILE = /^(q|k|v|o|do|dq|dk|dv)\d{1,2}$|^(s|p|dp|ds)\d{1,2}\.\d{1,2}$/;
const PLANE = /^(none|[xz]-?(0(\.\d{1,4})?|1))$/;
const ON_DIE = /^(gpc|tpc|sm)_\d{1,3}$/;

export function decode(search: string, choices: Choices): Decoded {
  const query = new URLSearchParams(search);
  const notes: string[] = [];

  const read = reader((name) => query.get(name), notes);
  const { share, oneOf, flag, shaped } = read;
  const state: ExhibitState = {
    ...readLab(read, choices, notes),
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
    level: oneOf("level", DEFAULTS.level, LEVELS),
    present: flag("present", DEFAULTS.present),
    tier: oneOf("tier", DEFAULTS.tier, TIERS),
    t: share("t"),
  };
  return { state, notes };
}

type Plain = Exclude<keyof ExhibitState, keyof Setting | "compare" | "broken" | "ask" | "guessN" | "guessD">;

const NAMES: { readonly [K in Plain]: string } = {
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
  level: "level",
  present: "present",
  tier: "tier",
  t: "t",
};

/** The query string with a leading "?", or "" when everything stands at its default. */
export function encode(state: ExhibitState): string {
  const query = new URLSearchParams();
  writeLab(query, state);
  for (const key of Object.keys(NAMES) as Plain[]) {
    const value = state[key];
    if (value === DEFAULTS[key] || value === null) continue;
    query.set(NAMES[key], typeof value === "boolean" ? (value ? "1" : "0") : String(value));
  }
  // Colons and commas are allowed in a query and read better than %3A and %2C.
  const text = query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%40", "@");
  return text ? `?${text}` : "";
}
