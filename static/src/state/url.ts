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
const ALGORITHMS = ["standard", "fa2", "none"] as const;

export function decode(search: string, choices: Choices): Decoded {
  const query = new URLSearchParams(search);
  const notes: string[] = [];

  const read = reader((name) => query.get(name), notes);
  const { share, oneOf, flag } = read;
  const state: ExhibitState = {
    ...readLab(read, choices, notes),
    algorithm: oneOf("algorithm", DEFAULTS.algorithm, ALGORITHMS),
    explode: share("explode"),
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
  explode: "explode",
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
