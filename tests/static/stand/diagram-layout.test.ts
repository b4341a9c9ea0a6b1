/* The block diagram: everything drawn once, within its cluster, what is off counted by the ledger, taps going deeper. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  type Cell,
  type DiagramFacts,
  diagramCells,
  holds,
  pickAt,
  SM_BOARD,
  smCells,
} from "../../../static/src/stand/diagram-layout";
import { readGlb } from "../../../static/src/stand/glb";

const file = readFileSync(new URL("../../../models/h100_sxm5.glb", import.meta.url));
const die = readGlb(new Uint8Array(file).buffer, "package").nodes.find(({ name }) => name === "gpu_die");
const facts = die?.extras.diagram as DiagramFacts;
const cells = diagramCells(die?.extras.regions as Parameters<typeof diagramCells>[0], facts);
const kind = (name: Cell["kind"]) => cells.filter((one) => one.kind === name);
const edges = ({ x, z, w, d }: Cell) => ({ x0: x - w / 2, x1: x + w / 2, z0: z - d / 2, z1: z + d / 2 });
const apart = (a: Cell, b: Cell) => {
  const [p, q] = [edges(a), edges(b)];
  return p.x1 <= q.x0 + 1e-9 || q.x1 <= p.x0 + 1e-9 || p.z1 <= q.z0 + 1e-9 || q.z1 <= p.z0 + 1e-9;
};
/** The file gives places to a ten-thousandth of a millimetre. */
const ROUNDED = 2e-4;
const within = (a: Cell, b: Cell) => {
  const [p, q] = [edges(a), edges(b)];
  return p.x0 >= q.x0 - ROUNDED && p.x1 <= q.x1 + ROUNDED && p.z0 >= q.z0 - ROUNDED && p.z1 <= q.z1 + ROUNDED;
};

describe("the diagram", () => {
  it("draws the full chip and marks what an H100 SXM5 lacks", () => {
    expect([kind("gpc"), kind("tpc"), kind("sm"), kind("l2"), kind("memory_controller")].map((k) => k.length)).toEqual([
      8, 72, 144, 2, 12,
    ]);
    expect(kind("sm").filter(({ used }) => used)).toHaveLength(132);
    expect(kind("tpc").filter(({ used }) => used)).toHaveLength(66);
    expect(kind("memory_controller").filter(({ used }) => used)).toHaveLength(10);
  });

  it("keeps every SM in its pair, every pair in its cluster, and neighbours apart", () => {
    for (const sm of kind("sm")) expect(within(sm, kind("tpc")[Math.floor(sm.index / 2)] as Cell)).toBe(true);
    for (const tpc of kind("tpc")) expect(within(tpc, kind("gpc")[Math.floor(tpc.index / 9)] as Cell)).toBe(true);
    for (const list of [kind("sm"), kind("tpc"), [...kind("gpc"), ...kind("l2"), ...kind("memory_controller"), ...kind("interface")]])
      list.forEach((a, i) => {
        for (const b of list.slice(i + 1)) expect(apart(a, b)).toBe(true);
      });
  });
});

describe("the opened SM", () => {
  const inside = smCells(facts);

  it("has a tensor core and registers in each of four quarters and one memory for all", () => {
    const count = (name: Cell["kind"]) => inside.filter((one) => one.kind === name).length;
    expect([count("tensor_core"), count("rmem"), count("smem"), count("l1")]).toEqual([4, 4, 1, 1]);
    const [smem, l1] = (["smem", "l1"] as const).map((name) => inside.find((one) => one.kind === name) as Cell);
    expect((smem as Cell).w / ((smem as Cell).w + (l1 as Cell).w)).toBeCloseTo(228 / 256, 6);
  });

  it("stays on its board, blocks clear of each other", () => {
    const blocks = inside.filter(({ kind: name }) => name !== "tpc");
    const board: Cell = { ...(blocks[0] as Cell), x: 0, z: 0, w: SM_BOARD.w, d: SM_BOARD.d };
    blocks.forEach((a, i) => {
      expect(within(a, board)).toBe(true);
      for (const b of blocks.slice(i + 1)) expect(apart(a, b)).toBe(true);
    });
  });
});

describe("a tap", () => {
  const sm = kind("sm")[17] as Cell;
  const far = kind("sm")[120] as Cell;

  it("goes from the cluster to the pair to the SM, and closes the SM again", () => {
    let now = pickAt(cells, sm.x, sm.z, null);
    expect(now).toEqual({ kind: "gpc", index: 0 });
    now = pickAt(cells, sm.x, sm.z, now);
    expect(now).toEqual({ kind: "tpc", index: 8 });
    now = pickAt(cells, sm.x, sm.z, now);
    expect(now).toEqual({ kind: "sm", index: 17 });
    expect(pickAt(cells, sm.x, sm.z, now)).toBeNull();
  });

  it("elsewhere stays as deep, and outside the clusters means nothing", () => {
    expect(pickAt(cells, far.x, far.z, { kind: "sm", index: 17 })).toEqual({ kind: "sm", index: 120 });
    expect(pickAt(cells, far.x, far.z, { kind: "gpc", index: 0 })).toEqual({ kind: "gpc", index: 6 });
    expect(pickAt(cells, 0, 0, { kind: "sm", index: 17 })).toBeNull();
    expect(pickAt(cells, 400, 0, null)).toBeNull();
  });

  it("stands for what it holds", () => {
    const held = (name: Cell["kind"], of: Parameters<typeof holds>[0]) =>
      cells.filter((one) => one.kind === name && holds(of, one, cells)).length;
    expect([held("gpc", { kind: "gpc", index: 3 }), held("tpc", { kind: "gpc", index: 3 }), held("sm", { kind: "gpc", index: 3 })]).toEqual([1, 9, 18]);
    expect([held("tpc", { kind: "tpc", index: 3 }), held("sm", { kind: "tpc", index: 3 })]).toEqual([1, 2]);
    expect(held("sm", { kind: "sm", index: 143 })).toBe(1);
  });
});
