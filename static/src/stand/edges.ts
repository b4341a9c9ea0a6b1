/*
 * Lit edges: lines along the rims of the main parts, so that dark neighbours are parted by light (on the projector: by
 * black outlines). One set per group, so that they move apart with it; the edges of a part pointed at take the accent.
 */
import { Color } from "three";
import type { Box } from "../math/view";
import { GROUPS } from "./explode";
import { LineMaterial, LineSet } from "./lines";
import type { PackageModel, PackagePart } from "./package";
import type { Room } from "./themes";

/** Parts that get edges. */
const RIMMED = /^(gpu_die|hbm_stack_\d|interposer|moulding|substrate)$/;
/** How far the drawn rim lies inside the part's bounds, in mm. */
const INSET = 0.06;

interface Rimmed {
  part: string;
  set: LineSet;
  first: number;
  count: number;
}

export class Edges {
  private readonly lines = new LineMaterial(0.12);
  private readonly sets: LineSet[] = [];
  private readonly rimmed: Rimmed[] = [];
  private readonly accent = new Color();

  constructor(model: PackageModel) {
    for (const group of GROUPS) {
      const parts = [...model.parts.values()].filter((part) => part.group === group && RIMMED.test(part.id));
      if (parts.length === 0) continue;
      const set = this.build(parts);
      set.mesh.renderOrder = 3;
      set.mesh.name = `edges_${group}`;
      model.groups[group].add(set.mesh);
      this.sets.push(set);
    }
  }

  private build(parts: readonly PackagePart[]): LineSet {
    const rims = parts.map((part) => rim(part.bounds, part.id));
    const set = new LineSet(
      this.lines.material,
      rims.reduce((sum, { length }) => sum + length, 0),
    );
    let at = 0;
    rims.forEach((segments, i) => {
      this.rimmed.push({ part: (parts[i] as PackagePart).id, set, first: at, count: segments.length });
      for (const [a, b] of segments) {
        set.segment(at, a, b);
        set.colour(at, -1, 0, 0, 1);
        at++;
      }
    });
    set.count = at;
    return set;
  }

  setRoom(room: Room): void {
    const { look } = this.lines;
    look.tint.value.set(room.edge);
    look.width.value = room.edgeWidth;
    look.opacity.value = room.edgeOpacity;
    this.accent.set(room.accent);
  }

  resize(width: number, height: number): void {
    this.lines.resize(width, height);
  }

  /** Veil and glow of a part, each 0…1. */
  setState(part: string, veil: number, glow: number): void {
    const { r, g, b } = this.accent;
    for (const { part: id, set, first, count } of this.rimmed) {
      if (id !== part) continue;
      for (let i = first; i < first + count; i++)
        if (glow > 0.05) set.colour(i, r, g, b, 1);
        else set.colour(i, -1, 0, 0, 1 - 0.8 * veil);
    }
  }

  dispose(): void {
    for (const set of this.sets) set.dispose();
    this.lines.material.dispose();
  }
}

type Point = [number, number, number];

/** The four edges of the top and, where corners are sharp enough, the four upright ones. */
function rim(box: Box, part: string): [Point, Point][] {
  const [x0, y0, z0] = [box.min[0] + INSET, box.min[1], box.min[2] + INSET];
  const [x1, y1, z1] = [box.max[0] - INSET, box.max[1], box.max[2] - INSET];
  const around: [number, number][] = [
    [x0, z0],
    [x1, z0],
    [x1, z1],
    [x0, z1],
  ];
  const segments: [Point, Point][] = [];
  around.forEach(([x, z], i) => {
    const [nx, nz] = around[(i + 1) % 4] as [number, number];
    // The substrate's corners are rounded: lines stop short of them.
    const short = part === "substrate" ? 0.9 : 0;
    const dx = Math.sign(nx - x) * short;
    const dz = Math.sign(nz - z) * short;
    segments.push([
      [x + dx, y1, z + dz],
      [nx - dx, y1, nz - dz],
    ]);
    if (!short)
      segments.push([
        [x, y0, z],
        [x, y1, z],
      ]);
  });
  return segments;
}
