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

/** Numbers a corner: place and normal. */
const CORNER = 6;
/** Filled anew by every call: a plane that is dragged asks a hundred times a frame. */
let kept = new Float32Array();
const polygon = new Float32Array(4 * CORNER);

/** Place and normal of three corners a triangle, x y z nx ny nz each: what lies on the near side of the plane. */
export function keptHalf({ positions, normals, index }: Solid, axis: CutAxis, at: number): Float32Array {
  // A triangle leaves two at most.
  const most = index.length * 2 * CORNER;
  if (kept.length < most) kept = new Float32Array(most);
  let end = 0;
  const put = (to: Float32Array, first: number, a: number, b: number, k: number) => {
    for (let c = 0; c < 3; c++) {
      to[first + c] = lerp(positions[a + c] as number, positions[b + c] as number, k);
      to[first + 3 + c] = lerp(normals[a + c] as number, normals[b + c] as number, k);
    }
  };
  for (let t = 0; t < index.length; t += 3) {
    let corners = 0;
    for (let side = 0; side < 3; side++) {
      const a = (index[t + side] as number) * 3;
      const b = (index[t + ((side + 1) % 3)] as number) * 3;
      const da = (positions[a + axis] as number) - at;
      const db = (positions[b + axis] as number) - at;
      if (da <= 0) put(polygon, corners++ * CORNER, a, a, 0);
      if (da > 0 !== db > 0) put(polygon, corners++ * CORNER, a, b, da / (da - db));
    }
    for (let i = 1; i + 1 < corners; i++)
      for (const corner of [0, i, i + 1]) {
        for (let c = 0; c < CORNER; c++) kept[end + c] = polygon[corner * CORNER + c] as number;
        end += CORNER;
      }
  }
  return kept.slice(0, end);
}
