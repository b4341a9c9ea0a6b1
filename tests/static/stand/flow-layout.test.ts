/* Where the flow happens: lanes join up, tiles start in the right stack, benches and cells do not overlap. */
import { describe, expect, it } from "vitest";
import type { Box } from "../../../static/src/math/view";
import { type FlowTile, type Leg, tilesAt } from "../../../static/src/stand/flow";
import { FlowLayout, type FlowSite, type Rect } from "../../../static/src/stand/flow-layout";
import type { Schedule, Tensor } from "../../../static/src/stand/types";
import { fa2, keysOutside, standard } from "./schedules";

const TOP = 10.5;
const stack = (x: number, z: number): Box => ({ min: [x - 5.5, 7.6, z - 5], max: [x + 5.5, TOP, z + 5] });
const grid = (columns: number, rows: number, width: number, depth: number, x0: number, z0: number): Rect[] =>
  Array.from({ length: columns * rows }, (_, i) => [
    x0 + (i % columns) * width,
    z0 + Math.floor(i / columns) * depth,
    width * 0.96,
    depth * 0.96,
  ]);
/** Five stacks serve; the sixth place, at +x +z, is left out by the caller. */
const site: FlowSite = {
  stacks: [stack(-19.35, -10.8), stack(-19.35, 0), stack(-19.35, 10.8), stack(19.35, -10.8), stack(19.35, 0)],
  die: { min: [-13.05, 7.6, -15.6], max: [13.05, TOP, 15.6] },
  dieTop: TOP,
  l2: [
    [-5.2, 0, 10.2, 5.4],
    [5.2, 0, 10.2, 5.4],
  ],
  gpc: [...grid(4, 1, 5.2, 11, -7.8, -8.4), ...grid(4, 1, 5.2, 11, -7.8, 8.4)],
  sm: [...grid(8, 9, 2.6, 1.2, -9.1, -13.2), ...grid(8, 9, 2.6, 1.2, -9.1, 3.6)],
};

const tile = (tensor: Tensor, m: number, n: number, leg: Leg, k = 0, row = 0): FlowTile => ({
  tensor,
  m,
  n,
  leg,
  k,
  row,
  scale: 1,
});
const place = (layout: FlowLayout, of: FlowTile): number[] => {
  const out = new Float32Array(4);
  layout.place(of, out);
  return [...out];
};

describe.each<[string, Schedule]>([
  ["standard 8", standard(8)],
  ["fa2 8", fa2(8)],
  ["fa2 32", fa2(32)],
  ["standard 13", standard(13)],
  ["keys outside 8", keysOutside(8)],
])("%s", (_, schedule) => {
  const layout = new FlowLayout(site, schedule);

  it("starts a lane in the stack that holds the tile and ends it in the L2 band", () => {
    for (const [tensor, m, n] of [
      ["q", 3, -1],
      ["k", -1, 5],
      ["v", -1, 2],
      ["s", 4, 6],
      ["p", 1, 7],
      ["o", 2, -1],
    ] as const) {
      const from = place(layout, tile(tensor, m, n, "hbm_to_l2", 0));
      const box = site.stacks[layout.stackOf(tensor, m, n)] as Box;
      for (const axis of [0, 2]) {
        expect(from[axis]).toBeGreaterThan(box.min[axis] as number);
        expect(from[axis]).toBeLessThan(box.max[axis] as number);
      }
      const to = place(layout, tile(tensor, m, n, "hbm_to_l2", 1));
      expect(Math.abs(to[2] as number)).toBeLessThan(2.7);
      expect(Math.abs(to[0] as number)).toBeLessThan(10.4);
    }
  });

  it("goes on where it arrived: HBM to L2 to SM, and the same way back", () => {
    for (const [tensor, m, n] of [
      ["q", 3, -1],
      ["k", -1, 5],
      ["s", 4, 6],
      ["o", 2, -1],
    ] as const) {
      const at = (leg: Leg, k: number) => place(layout, tile(tensor, m, n, leg, k, 5)).slice(0, 3);
      const near = (a: number[], b: number[]) => {
        a.forEach((x, i) => {
          expect(x).toBeCloseTo(b[i] as number, 4);
        });
      };
      near(at("hbm_to_l2", 1), at("l2_to_sm", 0));
      near(at("sm_to_l2", 1), at("l2_to_hbm", 0));
      near(at("hbm_to_l2", 0.3), at("l2_to_hbm", 0.7));
      near(at("hbm_to_l2", 1), at("in_l2", 0));
    }
  });

  it("gives every row or column an SM and a bench of its own", () => {
    const owners = Math.max(schedule.blocks_m, schedule.blocks_n);
    const benches = Array.from({ length: owners }, (_, row) => place(layout, tile("q", row, -1, "on_sm", 0, row)));
    expect(new Set(Array.from({ length: owners }, (_, row) => layout.smOf(row))).size).toBe(owners);
    for (const [i, a] of benches.entries())
      for (const b of benches.slice(i + 1))
        expect(Math.hypot((a[0] as number) - (b[0] as number), (a[2] as number) - (b[2] as number))).toBeGreaterThan(
          layout.tile,
        );
  });

  it("lays the written blocks of S and P side by side on the stacks", () => {
    const cells = ([0, 1, 2] as const).slice(0, layout.storedKinds).flatMap((kind) =>
      Array.from({ length: schedule.blocks_m * schedule.blocks_n }, (_, i) => {
        const [m, n] = [Math.floor(i / schedule.blocks_n), i % schedule.blocks_n];
        return { cell: layout.storedCell(kind, m, n), box: site.stacks[layout.stackOf("s", m, n)] as Box };
      }),
    );
    for (const { cell, box } of cells) {
      const [x, z, side] = cell;
      expect(x - side / 2).toBeGreaterThan(box.min[0]);
      expect(x + side / 2).toBeLessThan(box.max[0]);
      expect(z - side / 2).toBeGreaterThan(box.min[2]);
      expect(z + side / 2).toBeLessThan(box.max[2]);
    }
    const places = new Set(cells.map(({ cell: [x, z] }) => `${x.toFixed(4)} ${z.toFixed(4)}`));
    expect(places.size).toBe(cells.length);
    const near = cells.slice(0, 60);
    for (const [i, a] of near.entries())
      for (const b of near.slice(i + 1))
        expect(
          Math.max(Math.abs(a.cell[0] - b.cell[0]), Math.abs(a.cell[1] - b.cell[1])),
        ).toBeGreaterThan(a.cell[2]);
  });

  it("parks waiting tiles in the L2 side by side", () => {
    const list = tilesAt(schedule, schedule.num_steps / 2 + 0.01);
    const parked = list.items
      .slice(0, list.count)
      .filter((one) => one.leg === "in_l2")
      .map((one) => place(layout, one));
    for (const [i, a] of parked.entries())
      for (const b of parked.slice(i + 1)) {
        const apart = Math.max(Math.abs((a[0] as number) - (b[0] as number)), Math.abs((a[2] as number) - (b[2] as number)));
        expect(apart).toBeGreaterThan(layout.tile * (a[3] as number));
      }
  });
});

it("takes every tile from all five stacks in turn", () => {
  const layout = new FlowLayout(site, fa2(10));
  for (const tensor of ["q", "k", "v", "o"] as const)
    expect(new Set(Array.from({ length: 10 }, (_, i) => layout.stackOf(tensor, i, i))).size).toBe(5);
});
