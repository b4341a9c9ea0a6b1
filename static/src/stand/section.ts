/*
 * Cutting a closed mesh with an upright plane, in plain numbers: the outline the plane makes on its triangles, that
 * outline filled with trapezoids, and the half that is kept. Works for any closed mesh, with holes, in several pieces,
 * even where pieces overlap. Pure; mm.
 */

/** Triangles with a normal per corner; `index` counts corners in threes. */
export interface Solid {
  positions: Float32Array;
  normals: Float32Array;
  index: ArrayLike<number>;
}

/** 0: a plane x = at, seen with z to the left; 2: a plane z = at, seen with x to the right. */
export type CutAxis = 0 | 2;

/** One strip of a section between u0 and u1: its lower and upper end on either side. */
export interface Trapezoid {
  u0: number;
  low0: number;
  high0: number;
  u1: number;
  low1: number;
  high1: number;
}

/** Nearer than this, two places along a section are one, in mm. */
const SAME = 1e-5;

/** The outline as segments u, y, u, y …, along u = z for a plane of x and u = x for a plane of z; matter on one side. */
export function outlineOf({ positions, index }: Solid, axis: CutAxis, at: number): number[] {
  const across = 2 - axis;
  const found: number[] = [];
  const ends: number[] = [];
  for (let t = 0; t < index.length; t += 3) {
    ends.length = 0;
    for (let side = 0; side < 3; side++) {
      const a = (index[t + side] as number) * 3;
      const b = (index[t + ((side + 1) % 3)] as number) * 3;
      const da = (positions[a + axis] as number) - at;
      const db = (positions[b + axis] as number) - at;
      // A corner on the plane counts as kept, for every triangle alike, so that outlines stay closed.
      if (da > 0 === db > 0) continue;
      const k = da / (da - db);
      const u = lerp(positions[a + across] as number, positions[b + across] as number, k);
      const y = lerp(positions[a + 1] as number, positions[b + 1] as number, k);
      // Where the outline leaves the kept half comes first: that gives every segment its direction.
      if (da > 0) ends.push(u, y);
      else ends.unshift(u, y);
    }
    if (ends.length === 4) found.push(...ends);
  }
  return found;
}

function lerp(from: number, to: number, k: number): number {
  return from + (to - from) * k;
}

/** Fills an outline: wherever more segments run one way than the other, there is matter. */
export function fillOutline(segments: readonly number[]): Trapezoid[] {
  const stops = [...new Set(segments.filter((_, i) => i % 2 === 0))].sort((a, b) => a - b);
  const found: Trapezoid[] = [];
  let u0 = stops[0] ?? 0;
  for (const u1 of stops) {
    if (u1 - u0 < SAME) continue;
    const middle = (u0 + u1) / 2;
    const spanning: { low: number; high: number; turn: number }[] = [];
    for (let s = 0; s < segments.length; s += 4) {
      const ua = segments[s] as number;
      const ub = segments[s + 2] as number;
      if (ua > middle === ub > middle) continue;
      const ya = segments[s + 1] as number;
      const slope = ((segments[s + 3] as number) - ya) / (ub - ua);
      spanning.push({ low: ya + slope * (u0 - ua), high: ya + slope * (u1 - ua), turn: ub > ua ? 1 : -1 });
    }
    spanning.sort((a, b) => a.low + a.high - b.low - b.high);
    let depth = 0;
    let start = spanning[0];
    for (const edge of spanning) {
      if (depth === 0) start = edge;
      depth += edge.turn;
      if (depth === 0 && start && edge !== start)
        found.push({ u0, low0: start.low, high0: edge.low, u1, low1: start.high, high1: edge.high });
    }
    u0 = u1;
  }
  return found;
}

export function areaOf(strips: readonly Trapezoid[]): number {
  return strips.reduce((sum, s) => sum + ((s.high0 - s.low0 + s.high1 - s.low1) / 2) * (s.u1 - s.u0), 0);
}

/** Place and normal of three corners a triangle, x y z nx ny nz each: what lies on the near side of the plane. */
export function keptHalf({ positions, normals, index }: Solid, axis: CutAxis, at: number): number[] {
  const out: number[] = [];
  const beyond = (i: number) => (positions[i * 3 + axis] as number) > at;
  for (let t = 0; t < index.length; t += 3) {
    const [a, b, c] = [index[t] as number, index[t + 1] as number, index[t + 2] as number];
    const away = Number(beyond(a)) + Number(beyond(b)) + Number(beyond(c));
    if (away === 3) continue;
    if (away === 0) {
      for (const i of [a, b, c])
        for (const values of [positions, normals])
          out.push(values[i * 3] as number, values[i * 3 + 1] as number, values[i * 3 + 2] as number);
      continue;
    }
    const polygon = clip(
      [a, b, c].map((i) => [...positions.subarray(i * 3, i * 3 + 3), ...normals.subarray(i * 3, i * 3 + 3)]),
      axis,
      at,
    );
    for (let i = 1; i + 1 < polygon.length; i++)
      out.push(...(polygon[0] as number[]), ...(polygon[i] as number[]), ...(polygon[i + 1] as number[]));
  }
  return out;
}

function clip(polygon: readonly number[][], axis: CutAxis, at: number): number[][] {
  const left: number[][] = [];
  polygon.forEach((a, i) => {
    const b = polygon[(i + 1) % polygon.length] as number[];
    const da = (a[axis] as number) - at;
    const db = (b[axis] as number) - at;
    if (da <= 0) left.push(a);
    if (da > 0 !== db > 0) left.push(a.map((value, c) => lerp(value, b[c] as number, da / (da - db))));
  });
  return left;
}
