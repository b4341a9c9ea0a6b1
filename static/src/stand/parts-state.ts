/*
 * How bright each part is: veiled while others are spoken of, glowing while pointed at or picked. Moves evenly towards
 * its goal and is written to the instances only when it changed.
 */
import { clamp } from "../math/scalar";
import type { Edges } from "./edges";
import type { PackageModel } from "./package";
import { INSIDE_SM, REGION_KINDS } from "./regions";
import type { IsolateName } from "./types";

const FADE_MS = 350;
const VEIL = 0.82;

interface Level {
  value: number;
  goal: number;
}

const level = (): Level => ({ value: 0, goal: 0 });

/** Moves on; true while not there yet. */
function advance(entry: Level, deltaMs: number): boolean {
  const step = deltaMs / FADE_MS;
  entry.value += clamp(entry.goal - entry.value, -step, step);
  return entry.value !== entry.goal;
}

export class PartsState {
  /** Parts that have faded away altogether because another group is shown alone. */
  hidden: ReadonlySet<string> = new Set();
  /** Regions of the die that are lit, 0…1 each. */
  readonly regions = new Map<string, number>();
  private readonly veils = new Map<string, Level>();
  private readonly glows = new Map<string, Level>();
  private readonly hides = new Map<string, Level>();
  private readonly regionLevels = new Map<string, Level>();
  private changed = true;

  constructor(
    private readonly model: PackageModel,
    readonly edges: Edges,
  ) {
    for (const id of model.parts.keys()) {
      this.veils.set(id, level());
      this.glows.set(id, level());
      this.hides.set(id, level());
    }
    for (const kind of REGION_KINDS) this.regionLevels.set(kind, level());
  }

  /** `lit`: part ids, "hbm" for all stacks, or kinds of region on the die; empty means all parts alike. */
  setLit(lit: readonly string[]): void {
    const bright = new Set<string>();
    for (const id of lit) {
      if (id === "hbm") for (const part of this.model.parts.keys()) if (part.startsWith("hbm_stack_")) bright.add(part);
      if (REGION_KINDS.includes(id) || INSIDE_SM.includes(id)) bright.add("gpu_die");
      if (this.model.parts.has(id)) bright.add(id);
    }
    for (const [id, veil] of this.veils) veil.goal = bright.size === 0 || bright.has(id) ? 0 : VEIL;
    for (const [kind, shine] of this.regionLevels) shine.goal = lit.includes(kind) ? 0.85 : 0;
  }

  setMarked(hovered: string | null, picked: string | null): void {
    for (const [id, glow] of this.glows) glow.goal = id === picked ? 1 : id === hovered ? 0.6 : 0;
  }

  /** Shows one group alone on the base, or everything. */
  setIsolated(name: IsolateName | null): void {
    for (const [id, hide] of this.hides) {
      const group = this.model.parts.get(id)?.group ?? "";
      const own = group.startsWith("stacks_") ? "hbm" : group;
      hide.goal = name === null || own === name || own === "base" ? 0 : 1;
    }
  }

  /** How far a part is faded into the room, and how much it glows, 0…1 each. */
  stateOf(id: string): readonly [number, number] {
    const veil = Math.max(this.veils.get(id)?.value ?? 0, this.hides.get(id)?.value ?? 0);
    return [veil, this.glows.get(id)?.value ?? 0];
  }

  /** The lists of instances were filled anew: every level is written again. */
  refresh(): void {
    this.changed = true;
  }

  /** Moves every level on. True while something is still moving; `write` then puts it on the instances. */
  update(deltaMs: number): boolean {
    let moving = false;
    for (const map of [this.veils, this.glows, this.hides, this.regionLevels])
      for (const entry of map.values()) {
        if (entry.value === entry.goal) continue;
        this.changed = true;
        if (advance(entry, deltaMs)) moving = true;
      }
    for (const [kind, shine] of this.regionLevels) this.regions.set(kind, shine.value);
    const gone = [...this.hides].filter(([, { value }]) => value === 1).map(([id]) => id);
    if (gone.length !== this.hidden.size || gone.some((id) => !this.hidden.has(id))) this.hidden = new Set(gone);
    return moving;
  }

  /** Writes levels to instances and edges if any changed; true if so. */
  write(): boolean {
    if (!this.changed) return false;
    this.changed = false;
    const states = new Map([...this.hides.keys()].map((id) => [id, this.stateOf(id)]));
    for (const [id, [veil, glow]] of states) this.edges.setState(id, veil, glow, this.hides.get(id)?.value ?? 0);
    for (const mesh of this.model.meshes) {
      if (!mesh.visible) continue;
      const state = mesh.geometry.getAttribute("aState");
      const owners = mesh.userData.parts as string[];
      const levels = state.array;
      let touched = false;
      for (let i = 0; i < mesh.count; i++) {
        const known = states.get(owners[i] as string);
        const veil = known ? Math.fround(known[0]) : 0;
        const glow = known ? Math.fround(known[1]) : 0;
        if (levels[i * 2] === veil && levels[i * 2 + 1] === glow) continue;
        levels[i * 2] = veil;
        levels[i * 2 + 1] = glow;
        touched = true;
      }
      if (touched) state.needsUpdate = true;
    }
    return true;
  }
}
