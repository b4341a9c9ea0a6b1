/*
 * Lit edges: lines along the rims of the main parts, so that dark neighbours are parted by light (on the projector: by
 * black outlines). One set per group, so that they move apart with it; the edges of a part pointed at take the accent.
 */
import { Color } from "three";
import { type Box, boxMoved } from "../math/view";
import { GROUPS } from "./explode";
import { LineMaterial, LineSet } from "./lines";
import type { PackageModel, PackagePart } from "./package";
import { boundsOf, boxCut, CLOSED, layerRise, type Plane, type Shape } from "./placement";
import type { Room } from "./themes";

/** Parts that get edges. */
const RIMMED = /^(gpu_die|hbm_stack_\d|interposer|moulding|substrate)$/;
/** How far the drawn rim lies inside the part's bounds, in mm. */
const INSET = 0.06;

/** The lower edge of the interposer is rounded this far up, in mm. */
const BEVEL = 0.08;
/** Lines of one body, and the most bodies of a part that get lines of their own: the layers of the opened stack. */
const PER_BODY = 12;
const MOST_BODIES = 9;

interface Rimmed {
  part: PackagePart;
  set: LineSet;
  first: number;
  count: number;
  veil: number;
  glow: number;
  hide: number;
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
      const most = parts.reduce((sum, { layers }) => sum + PER_BODY * (layers ? MOST_BODIES : 1), 0);
      const set = new LineSet(this.lines.material, most);
      set.mesh.renderOrder = 3;
      set.mesh.name = `edges_${group}`;
      model.groups[group].add(set.mesh);
      this.sets.push(set);
      for (const part of parts) this.rimmed.push({ part, set, first: 0, count: 0, veil: 0, glow: 0, hide: 0 });
    }
    this.setShape(CLOSED);
  }

  /** Draws the rims of what is shown: cut off at the plane, one for each layer of an opened stack. */
  setShape(shape: Shape): void {
    for (const set of this.sets) set.count = 0;
    for (const rimmed of this.rimmed) {
      const { part, set } = rimmed;
      rimmed.first = set.count;
      for (const box of rimmedBodies(part, shape))
        for (const [a, b] of rim(box, part.id, shape.plane)) {
          set.segment(set.count, a, b);
          set.count++;
        }
      rimmed.count = set.count - rimmed.first;
      this.paint(rimmed);
    }
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

  /** Veil, glow and fading away of a part, each 0…1. */
  setState(id: string, veil: number, glow: number, hide: number): void {
    for (const rimmed of this.rimmed) {
      if (rimmed.part.id !== id) continue;
      Object.assign(rimmed, { veil, glow, hide });
      this.paint(rimmed);
    }
  }

  private paint({ set, first, count, veil, glow, hide }: Rimmed): void {
    const { r, g, b } = this.accent;
    for (let i = first; i < first + count; i++)
      if (glow > 0.05) set.colour(i, r, g, b, 1);
      else set.colour(i, -1, 0, 0, (1 - 0.8 * veil) * (1 - hide));
  }

  dispose(): void {
    for (const set of this.sets) set.dispose();
    this.lines.material.dispose();
  }
}

type Point = [number, number, number];

/** The part as one body, or its layers where they stand apart. */
function rimmedBodies(part: PackagePart, shape: Shape): Box[] {
  const whole = boundsOf(part, shape);
  if (!whole) return [];
  if (!part.layers || shape.open < 0.02) return [whole];
  const largest = new Map<number, Box>();
  part.boxes.forEach((box, i) => {
    const layer = part.layers?.[i] as number;
    const known = largest.get(layer);
    if (!known || volume(box) > volume(known)) largest.set(layer, box);
  });
  return [...largest].flatMap(([layer, box]) => {
    const left = boxCut(box, shape.plane);
    return left ? [boxMoved(left, [0, layerRise(layer, shape), 0])] : [];
  });
}

const volume = ({ min, max }: Box): number => (max[0] - min[0]) * (max[1] - min[1]) * (max[2] - min[2]);

/** The four edges of the top (of the interposer, also below) and, where corners are sharp enough, the four upright ones. */
function rim(box: Box, part: string, plane: Plane | null): [Point, Point][] {
  const cutX = plane?.axis === 0 && box.max[0] === plane.at;
  const cutZ = plane?.axis === 2 && box.max[2] === plane.at;
  const [x0, y0, z0] = [box.min[0] + INSET, box.min[1], box.min[2] + INSET];
  const [x1, y1, z1] = [box.max[0] - (cutX ? 0 : INSET), box.max[1], box.max[2] - (cutZ ? 0 : INSET)];
  const around: [number, number][] = [
    [x0, z0],
    [x1, z0],
    [x1, z1],
    [x0, z1],
  ];
  const out = (place: number) => (place === x1 || place === z1 ? INSET : -INSET);
  const onCut = (x: number, z: number) => (cutX && x === x1) || (cutZ && z === z1);
  // The substrate's corners are rounded: lines stop short of them.
  const short = (x: number, z: number) => (part === "substrate" && !onCut(x, z) ? 0.9 : 0);
  const segments: [Point, Point][] = [];
  around.forEach(([x, z], i) => {
    const [nx, nz] = around[(i + 1) % 4] as [number, number];
    const [ux, uz] = [Math.sign(nx - x), Math.sign(nz - z)];
    const [from, to] = [short(x, z), short(nx, nz)];
    // Where the moulding is cut, its edge is broken by die and stacks.
    if (part !== "moulding" || !onCut(x, z) || !onCut(nx, nz))
      segments.push([
        [x + ux * from, y1, z + uz * from],
        [nx - ux * to, y1, nz - uz * to],
      ]);
    // The interposer is thin and lies on a board of its own brightness: its lower edge is lit too.
    if (part === "interposer")
      segments.push([
        [x + out(x), y0 + BEVEL, z + out(z)],
        [nx + out(nx), y0 + BEVEL, nz + out(nz)],
      ]);
    if (!short(x, z))
      segments.push([
        [x, y0, z],
        [x, y1, z],
      ]);
  });
  return segments;
}
