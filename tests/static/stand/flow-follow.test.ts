/* One tile followed: its name both ways, where it is at every moment, and an eye that glides without jumping. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { tilesAt } from "../../../static/src/stand/flow";
import { followedPlace, seenAt } from "../../../static/src/stand/flow-camera";
import { whereIs } from "../../../static/src/stand/flow-follow";
import { FlowLayout, type FlowSite } from "../../../static/src/stand/flow-layout";
import { atOnce } from "../../../static/src/stand/flow-parallel";
import { Materials } from "../../../static/src/stand/materials";
import { arrangePackage } from "../../../static/src/stand/package";
import { isSame, nameOf, tileNamed, titleOf } from "../../../static/src/stand/tile-names";
import type { Followed, Schedule } from "../../../static/src/stand/types";
import { named } from "./golden-schedules";
import { fa2, standard } from "./schedules";

const file = readFileSync(new URL("../../../models/h100_sxm5.glb", import.meta.url));
const materials = new Materials();
const model = arrangePackage(new Uint8Array(file).buffer, (name) => materials.get(name, true));
const bounds = (id: string) => model.parts.get(id)?.bounds as NonNullable<ReturnType<typeof model.parts.get>>["bounds"];
const site: FlowSite = {
  stacks: [0, 1, 2, 3, 4].map((i) => bounds(`hbm_stack_${i}`)),
  die: bounds("gpu_die"),
  dieTop: model.dieTop,
  l2: model.regions.l2,
  gpc: model.regions.gpc,
  sm: model.regions.sm,
};
const tile = (name: string): Followed => tileNamed(name) as Followed;

describe("names", () => {
  it.each(["q0", "k3", "v31", "o7", "do2", "dq4", "dk5", "dv6", "s2.5", "p0.0", "dp3.1", "ds1.12"])("reads %s back", (name) => {
    expect(nameOf(tile(name))).toBe(name);
  });

  it.each(["", "k", "3", "k3.1", "s3", "z1", "k123", "K3", "lse0", null])("refuses %s", (name) => {
    expect(tileNamed(name)).toBeNull();
  });

  it("counts from one for people, and calls a sum by what it becomes", () => {
    expect(titleOf(tile("k3"))).toBe("K₄");
    expect(titleOf(tile("dq9"))).toBe("dQ₁₀");
    expect(nameOf({ tensor: "dq_acc", m: 2, n: -1 })).toBe("dq2");
    expect(isSame({ tensor: "o_acc", m: 2, n: 5 }, tile("o2"))).toBe(true);
    expect(isSame({ tensor: "o", m: 2, n: 5 }, tile("o3"))).toBe(false);
  });
});

describe("where it is", () => {
  const where = (schedule: Schedule, time: number, name: string) => whereIs(schedule, time, tile(name)).words;

  it("goes with K through the memories of version 2", () => {
    const schedule = fa2(4);
    expect(where(schedule, 0, "k2")).toBe("lies in HBM");
    expect(where(schedule, 2.1, "k2")).toBe("on its way from HBM into the L2");
    expect(where(schedule, 2.4, "k2")).toBe("on its way from the L2 to an SM");
    expect(where(schedule, 2.65, "k2")).toBe("on an SM");
    expect(where(schedule, 3.5, "k2")).toBe("waits in the L2");
    expect(where(atOnce(schedule), 2.4, "k2")).toBe("on its way from the L2 to 4 SMs");
  });

  it("says what becomes of outputs and scores", () => {
    const schedule = fa2(4);
    expect(where(schedule, 1, "o1")).toBe("is not made yet");
    expect(where(schedule, 8.1, "o1")).toBe("lies in HBM");
    expect(where(schedule, 2, "s1.2")).toBe("is not made yet");
    expect(where(schedule, 6.65, "s1.2")).toBe("on an SM");
    expect(where(schedule, 9, "s1.2")).toBe("was used and is gone: it never left its SM");
    expect(where(standard(3), 5, "s0.1")).toBe("lies in HBM");
    expect(where(schedule, 2, "dk1")).toBe("takes no part in this pass");
  });

  it.each(named)("knows of every tile on show in %s", (_, schedule) => {
    for (let i = 0; i < 40; i++) {
      const time = ((i + 0.37) / 40) * schedule.num_steps;
      const list = tilesAt(schedule, time);
      for (const one of list.items.slice(0, list.count).map((item) => ({ ...item }))) {
        if (["stats", "lse", "delta"].includes(one.tensor)) continue;
        expect(whereIs(schedule, time, tile(nameOf(one))).tile).not.toBeNull();
      }
    }
  });
});

describe.each([...named, ...named.map(([name, one]): [string, Schedule] => [`${name}, at once`, atOnce(one)])])("the eye in %s", (_, schedule) => {
  const layout = new FlowLayout(site, schedule);

  it("glides: a fiftieth of a step never moves it by more than a tenth of the package", () => {
    for (const name of ["k1", "o1"]) {
      let before = followedPlace(layout, { schedule, time: 0 }, tile(name));
      for (let time = 0.02; time < Math.min(5, schedule.num_steps); time += 0.02) {
        const now = followedPlace(layout, { schedule, time }, tile(name));
        expect(Math.hypot(now[0] - before[0], now[2] - before[2])).toBeLessThan(6);
        before = now;
      }
    }
  });

  it("stays over the package, as does the tile", () => {
    for (let i = 0; i <= 50; i++)
      for (const name of ["k1", "s1.1", "o0"]) {
        const flow = { schedule, time: (i / 50) * schedule.num_steps };
        for (const [x, y, z] of [followedPlace(layout, flow, tile(name)), seenAt(layout, flow, tile(name)).at]) {
          expect(Math.abs(x)).toBeLessThan(30);
          expect(Math.abs(z)).toBeLessThan(20);
          expect(y).toBeGreaterThan(5);
        }
      }
  });
});
