/* The flow as a pure function of (schedule, time): tallies, tiles in flight and at rest, what is left in HBM. */
import { describe, expect, it } from "vitest";
import {
  blockExists,
  computesAt,
  type FlowTile,
  ownersAt,
  storedAt,
  tallyAt,
  tilesAt,
  waitingKinds,
  workAt,
} from "../../../static/src/stand/flow";
import type { Schedule } from "../../../static/src/stand/types";
import { BYTES, fa2, keysOutside, random, standard, sums } from "./schedules";

const all: [string, Schedule][] = [
  ["standard, 1 block", standard(1)],
  ["standard, 8 blocks", standard(8)],
  ["fa2, 1 block", fa2(1)],
  ["fa2, 8 blocks", fa2(8)],
  ["fa2, 32 blocks", fa2(32)],
  ["keys outside, 4 blocks", keysOutside(4)],
  ...Array.from({ length: 40 }, (_, seed): [string, Schedule] => [`random ${seed}`, random(seed)]),
];

const flat = (schedule: Schedule, time: number): number[] => {
  const { hbm, l2_to_sm } = tallyAt(schedule, time);
  return [hbm.read_bytes, hbm.written_bytes, l2_to_sm.read_bytes, l2_to_sm.written_bytes];
};
const tiles = (schedule: Schedule, time: number): FlowTile[] => {
  const list = tilesAt(schedule, time);
  return list.items.slice(0, list.count).map((tile) => ({ ...tile }));
};
const flying = (tile: FlowTile) => tile.leg !== "in_l2" && tile.leg !== "on_sm";

describe.each(all)("%s", (_, schedule) => {
  it("has crossed nothing at the start and exactly every move's bytes at the end", () => {
    expect(flat(schedule, 0)).toEqual([0, 0, 0, 0]);
    expect(tallyAt(schedule, schedule.num_steps)).toEqual(sums(schedule.moves));
    expect(tallyAt(schedule, schedule.num_steps + 5)).toEqual(sums(schedule.moves));
  });

  it("stands, at every whole step, at the sum of the moves of all steps before", () => {
    for (let step = 0; step <= schedule.num_steps; step += Math.ceil(schedule.num_steps / 40))
      expect(tallyAt(schedule, step)).toEqual(sums(schedule.moves.filter((move) => move.step < step)));
  });

  it("never counts backwards, and a tile in flight does not count yet", () => {
    const pace = Math.max(0.05, schedule.num_steps / 400);
    let before = [0, 0, 0, 0];
    for (let time = 0; time <= schedule.num_steps; time += pace) {
      const now = flat(schedule, time);
      now.forEach((bytes, i) => {
        expect(bytes).toBeGreaterThanOrEqual(before[i] as number);
      });
      before = now;
      const started = sums(schedule.moves.filter((move) => move.step <= time));
      expect(now[0]).toBeLessThanOrEqual(started.hbm.read_bytes);
      if (tiles(schedule, time).some((tile) => tile.leg === "hbm_to_l2"))
        expect(now[0]).toBeLessThan(started.hbm.read_bytes);
    }
  });

  it("is the same jumped to as played to", () => {
    const fresh: Schedule = { ...schedule };
    const times = Array.from({ length: 25 }, (_, i) => ((i * 7919) % 97) / 97).map((k) => k * schedule.num_steps);
    const list = { count: 0, items: [] as FlowTile[] };
    const played = new Map(
      [...times]
        .sort((a, b) => a - b)
        .map((time) => {
          tilesAt(fresh, time, list);
          return [time, list.items.slice(0, list.count).map((tile) => ({ ...tile }))];
        }),
    );
    for (const time of times) expect(tiles(schedule, time)).toEqual(played.get(time));
  });

  it("flies every move once, from one end of its lane to the other", () => {
    const step = Math.floor(schedule.num_steps / 2);
    const seen = new Set<string>();
    const last = new Map<string, number>();
    for (let i = 0; i < 2000; i++)
      for (const tile of tiles(schedule, step + i / 2000).filter(flying)) {
        const key = `${tile.tensor} ${tile.m} ${tile.n} ${tile.leg}`;
        seen.add(key);
        if (schedule.moves.filter((move) => move.step === step).length < 3)
          expect(tile.k).toBeGreaterThanOrEqual(last.get(key) ?? 0);
        last.set(key, tile.k);
      }
    const due = new Set(
      schedule.moves
        .filter((move) => move.step === step)
        .map(
          ({ tensor, m_block, n_block, source, target }) =>
            `${tensor} ${m_block ?? -1} ${n_block ?? -1} ${source}_to_${target}`,
        ),
    );
    expect([...seen].sort()).toEqual([...due].sort());
  });
});

it("shows nothing before the start and after the end", () => {
  const schedule = fa2(3);
  for (const time of [-1, schedule.num_steps, schedule.num_steps + 3]) {
    expect(tilesAt(schedule, time).count).toBe(0);
    expect(computesAt(schedule, time)).toEqual([]);
    expect(workAt(schedule, time)).toBe(0);
    expect(ownersAt(schedule, time)).toEqual([]);
  }
});

it("refuses a move outside the schedule's steps", () => {
  const schedule = { ...fa2(2), num_steps: 2 };
  expect(() => tallyAt(schedule, 0)).toThrow(/step 2 lies outside 0…1/);
});

describe("FlashAttention 2", () => {
  const schedule = fa2(8);
  const moments = Array.from({ length: 640 }, (_, i) => i / 10);

  it("never sends a score block anywhere and leaves none in HBM", () => {
    for (const time of moments)
      for (const tile of tiles(schedule, time))
        if (tile.tensor === "s" || tile.tensor === "p") expect(tile.leg).toBe("on_sm");
    for (let m = 0; m < 8; m++)
      for (let n = 0; n < 8; n++) expect(storedAt(schedule, schedule.num_steps, m, n)).toBe(0);
  });

  it("lights each score block on its SM during its step, and it is gone by the next", () => {
    for (let step = 0; step < 64; step++) {
      const block = { step, m_block: Math.floor(step / 8), n_block: step % 8 };
      expect(computesAt(schedule, step + 0.8)).toEqual([block]);
      const shown = tiles(schedule, step + 0.65).filter((tile) => tile.tensor === "s");
      expect(shown.map(({ m, n, row }) => [m, n, row])).toEqual([[block.m_block, block.n_block, block.m_block]]);
      expect(tiles(schedule, step + 0.999).some((tile) => tile.tensor === "s")).toBe(false);
    }
  });

  it("keeps a Q block on its own SM for its whole row, and the output beside it", () => {
    for (let m = 0; m < 8; m++)
      for (let n = 1; n < 8; n++) {
        const here = tiles(schedule, m * 8 + n + 0.3).filter((tile) => tile.leg === "on_sm");
        expect(here.filter((tile) => tile.tensor === "q").map(({ m: row, row: sm }) => [row, sm])).toEqual([[m, m]]);
        expect(here.filter((tile) => tile.tensor === "o").map(({ m: row }) => row)).toEqual([m]);
      }
  });

  it("keeps K and V in the L2 until the last row has asked for them, and nothing else", () => {
    expect(waitingKinds(schedule)).toEqual(["k", "v"]);
    const waiting = tiles(schedule, 30.01).filter((tile) => tile.leg === "in_l2");
    for (const tensor of ["k", "v"])
      expect(
        waiting
          .filter((tile) => tile.tensor === tensor)
          .map(({ n }) => n)
          .sort(),
      ).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(tiles(schedule, 63.999).filter((tile) => tile.leg === "in_l2")).toEqual([]);
  });

  it("reads K and V from HBM once and from the L2 once per row", () => {
    const { hbm, l2_to_sm } = tallyAt(schedule, 64);
    expect(hbm.read_bytes).toBe(8 * (BYTES.q + BYTES.k + BYTES.v));
    expect(l2_to_sm.read_bytes).toBe(8 * BYTES.q + 64 * (BYTES.k + BYTES.v));
  });
});

describe("the standard way", () => {
  const schedule = standard(8);

  it("fills HBM with S, then with P, and leaves both there", () => {
    expect(storedAt(schedule, 0.5, 0, 0)).toBe(0);
    expect(storedAt(schedule, 64, 7, 7)).toBe(1);
    expect(storedAt(schedule, 72, 0, 3)).toBe(2);
    expect(storedAt(schedule, 72, 1, 3)).toBe(1);
    for (let m = 0; m < 8; m++)
      for (let n = 0; n < 8; n++) expect(storedAt(schedule, schedule.num_steps, m, n)).toBe(2);
  });

  it("holds a row of S on the SM until its P leaves", () => {
    const held = tiles(schedule, 64 + 6 + 0.999).filter((tile) => tile.tensor === "s" && tile.leg === "on_sm");
    expect(held.map(({ n }) => n).sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it("keeps nothing waiting in the L2 from step to step", () => {
    expect(waitingKinds(schedule)).toEqual([]);
  });
});

describe("keys outside", () => {
  const schedule = keysOutside(4);

  it("gives each column of blocks an SM, which holds its K and V while the rows pass", () => {
    for (let step = 0; step < 16; step++) {
      expect(ownersAt(schedule, step + 0.5)).toEqual([Math.floor(step / 4)]);
      const held = tiles(schedule, step + 0.6).filter((tile) => tile.leg === "on_sm");
      expect(held.filter((tile) => tile.tensor === "k").map(({ n }) => n)).toEqual([Math.floor(step / 4)]);
      expect(held.filter((tile) => tile.tensor === "q").map(({ m }) => m)).toEqual([step % 4]);
    }
  });

  it("shows an output that is updated in place as one tile", () => {
    for (const share of [0.6, 0.7])
      expect(tiles(schedule, 5 + share).filter((tile) => tile.tensor === "o" && tile.leg === "on_sm")).toHaveLength(1);
  });
});

it("knows which blocks a mask skips", () => {
  const whole = fa2(3);
  const causal: Schedule = { ...whole, computes: whole.computes.filter(({ m_block, n_block }) => n_block <= m_block) };
  expect([0, 1, 2].map((n) => blockExists(causal, 1, n))).toEqual([true, true, false]);
});
