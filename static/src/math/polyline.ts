/*
 * Paths with rounded corners, walked at even speed. Made once, then asked for positions without allocating.
 */
import type { Vec3 } from "./view";

/** Points per rounded corner: enough that a tile on it does not visibly turn in steps. */
const CORNER_POINTS = 6;

export class Polyline {
  /** Total length in the units of the points. */
  readonly length: number;
  private readonly points: Float32Array;
  private readonly along: Float64Array;

  /** `corners`: at least two points; `radius`: how far before and after an inner corner the rounding starts. */
  constructor(corners: readonly Vec3[], radius: number) {
    const rounded = roundCorners(corners, radius);
    this.points = new Float32Array(rounded.flat());
    this.along = new Float64Array(rounded.length);
    let length = 0;
    for (let i = 1; i < rounded.length; i++) {
      length += distance(rounded[i - 1] as Vec3, rounded[i] as Vec3);
      this.along[i] = length;
    }
    this.length = length;
  }

  /** Writes the position a part `k` (0…1) of the way along into `out` at `offset`. */
  at(k: number, out: Float32Array | number[], offset = 0): void {
    const goal = k * this.length;
    let low = 0;
    let high = this.along.length - 1;
    while (high - low > 1) {
      const mid = (low + high) >> 1;
      if ((this.along[mid] as number) <= goal) low = mid;
      else high = mid;
    }
    const start = this.along[low] as number;
    const step = (this.along[high] as number) - start;
    const part = step > 0 ? Math.min(1, Math.max(0, (goal - start) / step)) : 0;
    for (let axis = 0; axis < 3; axis++) {
      const a = this.points[low * 3 + axis] as number;
      const b = this.points[high * 3 + axis] as number;
      out[offset + axis] = a + (b - a) * part;
    }
  }
}

function distance(a: Vec3, b: Vec3): number {
  return Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
}

function towards(from: Vec3, to: Vec3, length: number): Vec3 {
  const whole = distance(from, to);
  const k = whole > 0 ? length / whole : 0;
  return [from[0] + (to[0] - from[0]) * k, from[1] + (to[1] - from[1]) * k, from[2] + (to[2] - from[2]) * k];
}

/** Each inner corner becomes a quadratic curve that starts and ends `radius` away, or half a leg where legs are short. */
function roundCorners(corners: readonly Vec3[], radius: number): Vec3[] {
  const first = corners[0] as Vec3;
  const last = corners[corners.length - 1] as Vec3;
  const rounded: Vec3[] = [first];
  for (let i = 1; i < corners.length - 1; i++) {
    const before = corners[i - 1] as Vec3;
    const corner = corners[i] as Vec3;
    const after = corners[i + 1] as Vec3;
    const room = Math.min(radius, distance(before, corner) / 2, distance(corner, after) / 2);
    const a = towards(corner, before, room);
    const b = towards(corner, after, room);
    for (let j = 0; j <= CORNER_POINTS; j++) {
      const t = j / CORNER_POINTS;
      const u = 1 - t;
      rounded.push([
        u * u * a[0] + 2 * u * t * corner[0] + t * t * b[0],
        u * u * a[1] + 2 * u * t * corner[1] + t * t * b[1],
        u * u * a[2] + 2 * u * t * corner[2] + t * t * b[2],
      ]);
    }
  }
  rounded.push(last);
  return rounded;
}
