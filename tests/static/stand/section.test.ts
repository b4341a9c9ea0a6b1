/* Sections and halves against areas, volumes and outlines worked out by hand. */
import { describe, expect, it } from "vitest";
import { areaOf, type CutAxis, fillOutline, keptHalf, outlineOf, type Solid } from "../../../static/src/stand/section";

/** A mesh from rings of points, bottom first, closed by flat ends; each ring turns the same way. */
function loft(rings: readonly (readonly (readonly [number, number, number])[])[]): Solid {
  const size = rings[0]?.length ?? 0;
  const positions = new Float32Array(rings.flat(2));
  const index: number[] = [];
  for (let ring = 0; ring + 1 < rings.length; ring++)
    for (let i = 0; i < size; i++) {
      const [a, b] = [ring * size + i, ring * size + ((i + 1) % size)];
      index.push(a, a + size, b + size, a, b + size, b);
    }
  const last = (rings.length - 1) * size;
  for (let i = 1; i + 1 < size; i++) index.push(0, i, i + 1, last, last + i + 1, last + i);
  return { positions, normals: new Float32Array(positions.length), index };
}

function box(x0: number, y0: number, z0: number, x1: number, y1: number, z1: number): Solid {
  const ring = (y: number) =>
    [
      [x0, y, z0],
      [x1, y, z0],
      [x1, y, z1],
      [x0, y, z1],
    ] as [number, number, number][];
  return loft([ring(y0), ring(y1)]);
}

/** An upright cylinder around the origin, as a prism of many sides. */
function cylinder(radius: number, height: number, sides: number): Solid {
  const ring = (y: number) =>
    Array.from({ length: sides }, (_, i): [number, number, number] => {
      const angle = (2 * Math.PI * (i + 0.5)) / sides;
      return [radius * Math.cos(angle), y, radius * Math.sin(angle)];
    });
  return loft([ring(0), ring(height)]);
}

/** A ball around the origin, closed at the poles by tiny flats. */
function ball(radius: number, steps: number): Solid {
  const rings = Array.from({ length: steps + 1 }, (_, step) => {
    const up = -Math.PI / 2 + (Math.PI * Math.min(Math.max(step, 0.01), steps - 0.01)) / steps;
    return Array.from({ length: 2 * steps }, (_, i): [number, number, number] => {
      const angle = (Math.PI * (i + 0.5)) / steps;
      return [
        radius * Math.cos(up) * Math.cos(angle),
        radius * Math.sin(up),
        radius * Math.cos(up) * Math.sin(angle),
      ];
    });
  });
  return loft(rings);
}

function join(...solids: readonly Solid[]): Solid {
  const positions: number[] = [];
  const index: number[] = [];
  for (const solid of solids) {
    index.push(...Array.from(solid.index, (i) => i + positions.length / 3));
    positions.push(...solid.positions);
  }
  return { positions: new Float32Array(positions), normals: new Float32Array(positions.length), index };
}

/** The same mesh inside out: a hole when it lies within another. */
function inverted(solid: Solid): Solid {
  return { ...solid, index: Array.from(solid.index).reverse() };
}

const area = (solid: Solid, axis: CutAxis, at: number) => areaOf(fillOutline(outlineOf(solid, axis, at)));

/** Volume between the surface and a plane of the axis, from the triangles' own shares of it. */
function volumeBehind(corners: Float32Array, axis: CutAxis, at: number): number {
  let sum = 0;
  for (let t = 0; t < corners.length; t += 18) {
    const p = [0, 6, 12].map((from) => [0, 1, 2].map((c) => (corners[t + from + c] as number) - (c === axis ? at : 0)));
    const [a, b, c] = p as [number[], number[], number[]];
    const cross = (i: number, j: number) => (b[i] as number) * (c[j] as number) - (b[j] as number) * (c[i] as number);
    sum += ((a[0] as number) * cross(1, 2) + (a[1] as number) * cross(2, 0) + (a[2] as number) * cross(0, 1)) / 6;
  }
  return Math.abs(sum);
}

describe("a section", () => {
  it("of a box is its rectangle, on both axes, and nothing beside it", () => {
    const solid = box(-3, 1, -2, 5, 4, 2);
    for (const at of [-2.9, 0, 4.99]) expect(area(solid, 0, at)).toBeCloseTo(4 * 3, 5);
    for (const at of [-1.9, 0.37, 1.9]) expect(area(solid, 2, at)).toBeCloseTo(8 * 3, 5);
    for (const at of [-3.1, 5.1]) expect(area(solid, 0, at)).toBe(0);
  });

  it("of a cylinder is as wide as the chord", () => {
    const solid = cylinder(2, 3, 256);
    for (const at of [-1.5, 0, 0.8, 1.9])
      expect(area(solid, 2, at)).toBeCloseTo(2 * Math.sqrt(4 - at * at) * 3, 1);
  });

  it("of a ball is a disc", () => {
    const solid = ball(1.5, 64);
    for (const at of [-1, 0.02, 0.9]) {
      const disc = Math.PI * (2.25 - at * at);
      expect(Math.abs(area(solid, 0, at) - disc) / disc).toBeLessThan(0.005);
    }
  });

  it("leaves holes open and counts overlapping pieces once", () => {
    const block = box(-5, 0, -5, 5, 4, 5);
    const holed = join(block, inverted(box(-2, 1, -2, 1, 3, 2)));
    expect(area(holed, 2, 0)).toBeCloseTo(10 * 4 - 3 * 2, 5);
    expect(area(join(block, box(3, 1, -5, 9, 2, 5)), 2, 0)).toBeCloseTo(10 * 4 + 4 * 1, 4);
    expect(area(join(block, box(20, 0, -5, 21, 4, 5)), 2, 0)).toBeCloseTo(11 * 4, 4);
  });

  it("stays whole where the plane runs through corners and along faces", () => {
    const solid = cylinder(1, 2, 4);
    const corner = Math.SQRT1_2;
    expect(area(solid, 2, 0)).toBeCloseTo(2 * Math.SQRT2, 5);
    // On its far face a body is kept whole: there is nothing to fill.
    expect(area(solid, 2, Math.fround(corner))).toBe(0);
    const wedge = loft([
      [
        [0, 0, 0],
        [2, 0, -1],
        [2, 0, 1],
      ],
      [
        [0, 1, 0],
        [2, 1, -1],
        [2, 1, 1],
      ],
    ]);
    expect(area(wedge, 2, 0)).toBeCloseTo(2, 5);
  });
});

describe("the kept half", () => {
  it("holds the volume in front of the plane", () => {
    const solid = box(-3, 1, -2, 5, 4, 2);
    expect(volumeBehind(keptHalf(solid, 0, 1), 0, 1)).toBeCloseTo(4 * 3 * 4, 4);
    expect(volumeBehind(keptHalf(solid, 2, -1.5), 2, -1.5)).toBeCloseTo(8 * 3 * 0.5, 4);
    const round = ball(1, 48);
    const cap = (h: number) => (Math.PI * h * h * (3 - h)) / 3;
    for (const at of [-0.4, 0.3]) {
      const volume = volumeBehind(keptHalf(round, 2, at), 2, at);
      expect(Math.abs(volume - cap(1 + at)) / cap(1 + at)).toBeLessThan(0.01);
    }
  });

  it("never reaches beyond the plane, and is everything or nothing when the plane misses", () => {
    const solid = ball(1, 12);
    const half = keptHalf(solid, 0, 0.25);
    for (let i = 0; i < half.length; i += 6) expect(half[i]).toBeLessThanOrEqual(0.25 + 1e-6);
    expect(keptHalf(solid, 0, 2)).toHaveLength(solid.index.length * 6);
    expect(keptHalf(solid, 0, -2)).toHaveLength(0);
  });

  it("carries normals along the edges it cuts", () => {
    const solid = box(0, 0, 0, 2, 1, 1);
    for (let i = 0; i < solid.normals.length; i += 3) solid.normals[i] = solid.positions[i] as number;
    const half = keptHalf(solid, 0, 1.5);
    for (let i = 0; i < half.length; i += 6) expect(half[i + 3]).toBeCloseTo(half[i] as number, 5);
  });
});
