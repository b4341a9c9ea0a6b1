/* Callouts: inside the host, never over one another, no crossed lines, whatever the anchors. */
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../static/src/math/random";
import { type Anchor, type Frame, layoutCallouts, linesCross, type Placed } from "../../../static/src/stand/callout-layout";

const frameOf = (width: number, height: number): Frame => ({
  width,
  height,
  edge: 12,
  gap: 8,
  perColumn: width < 520 ? 2 : 5,
});

function anchors(random: () => number, count: number, frame: Frame): Anchor[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `part ${i}`,
    x: frame.edge + random() * (frame.width - 2 * frame.edge),
    y: frame.edge + random() * (frame.height - 2 * frame.edge),
    width: 50 + random() * 110,
    height: 23,
    rank: i,
  }));
}

const sizeOf = (placed: Placed, from: readonly Anchor[]) => from.find(({ id }) => id === placed.id) as Anchor;

describe.each([
  [760, 720],
  [390, 360],
  [1280, 640],
  [340, 442],
])("in a host of %i × %i px", (width, height) => {
  const frame = frameOf(width, height);
  const random = seededRandom(width);
  const cases = Array.from({ length: 300 }, (_, i) => anchors(random, 1 + (i % 12), frame));

  it("keeps every label inside the host and clear of all others", () => {
    for (const set of cases) {
      const placed = layoutCallouts(set, frame);
      for (const [i, a] of placed.entries()) {
        const { width: w, height: h } = sizeOf(a, set);
        expect(a.left).toBeGreaterThanOrEqual(frame.edge);
        expect(a.top).toBeGreaterThanOrEqual(frame.edge - 1e-9);
        expect(a.left + w).toBeLessThanOrEqual(width - frame.edge);
        expect(a.top + h).toBeLessThanOrEqual(height - frame.edge + 1e-9);
        for (const b of placed.slice(i + 1)) {
          const other = sizeOf(b, set);
          const apart =
            a.left + w < b.left || b.left + other.width < a.left || a.top + h < b.top || b.top + other.height < a.top;
          expect(apart).toBe(true);
        }
      }
    }
  });

  it("crosses no two leader lines of a column", () => {
    for (const set of cases) {
      const placed = layoutCallouts(set, frame);
      for (const side of ["left", "right"]) {
        const column = placed.filter((label) => label.side === side);
        for (const [i, a] of column.entries())
          for (const b of column.slice(i + 1)) expect(linesCross(a, b)).toBe(false);
      }
    }
  });

  it("ends every line at its anchor and starts it at its label", () => {
    for (const set of cases)
      for (const label of layoutCallouts(set, frame)) {
        const { x, y, width: w, height: h } = sizeOf(label, set);
        expect([label.anchorX, label.anchorY]).toEqual([x, y]);
        expect(label.lineX).toBe(label.side === "left" ? label.left + w : label.left);
        expect(label.lineY).toBeCloseTo(label.top + h / 2, 9);
      }
  });
});

it("names eight parts in a wide host and at least two in a narrow one", () => {
  const random = seededRandom(3);
  const wide = frameOf(760, 720);
  expect(layoutCallouts(anchors(random, 8, wide), wide)).toHaveLength(8);
  const narrow = frameOf(390, 360);
  expect(layoutCallouts(anchors(random, 8, narrow), narrow).length).toBeGreaterThanOrEqual(2);
});

it("names nothing that is cut off at the edge of the picture", () => {
  const frame = frameOf(760, 400);
  const at = (x: number, y: number): Anchor => ({ id: `${x} ${y}`, x, y, width: 60, height: 23, rank: 0 });
  const set = [at(755, 200), at(300, 396), at(4, 200), at(300, 3), at(740, 200)];
  expect(layoutCallouts(set, frame).map(({ id }) => id)).toEqual(["740 200"]);
});

it("drops the least important first", () => {
  const frame = { ...frameOf(760, 100), perColumn: 1 };
  const set = anchors(seededRandom(5), 6, frame);
  expect(
    layoutCallouts(set, frame)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(["part 0", "part 1"]);
});

it("leaves out what is not in the picture", () => {
  const frame = frameOf(760, 720);
  const [inside] = anchors(seededRandom(1), 1, frame) as [Anchor];
  expect(layoutCallouts([{ ...inside, x: -5 }, { ...inside, id: "below", y: 721 }], frame)).toEqual([]);
});

it("keeps a label on its side while its anchor wanders about the middle", () => {
  const frame = frameOf(760, 720);
  const sides = new Map<string, "left" | "right">();
  const anchor: Anchor = { id: "die", x: 300, y: 300, width: 90, height: 23, rank: 0 };
  expect(layoutCallouts([anchor], frame, sides)[0]?.side).toBe("left");
  expect(layoutCallouts([{ ...anchor, x: 420 }], frame, sides)[0]?.side).toBe("left");
  expect(layoutCallouts([{ ...anchor, x: 600 }], frame, sides)[0]?.side).toBe("right");
  expect(layoutCallouts([{ ...anchor, x: 340 }], frame, sides)[0]?.side).toBe("right");
});
