/*
 * The server's own schedules: tallies equal the server's sums for every algorithm, direction and mask, played, scrubbed
 * or jumped to, one SM after the other and all at once; and what is drawn at once is still the same work in an order
 * that could happen.
 */
import { describe, expect, it } from "vitest";
import { type FlowTile, keptAt, ownersAt, tallyAt, tilesAt } from "../../../static/src/stand/flow";
import { tileKey } from "../../../static/src/stand/flow-kinds";
import { atOnce, runsAtOnce } from "../../../static/src/stand/flow-parallel";
import type { Move, Schedule } from "../../../static/src/stand/types";
import { type Golden, named } from "./golden-schedules";
import { sums } from "./schedules";

const views: [string, Golden, Schedule][] = named.flatMap(([name, golden]) => [
  [`${name}, one after the other`, golden, golden],
  [`${name}, at once`, golden, atOnce(golden)],
]);
const lines = (golden: Golden) => ({
  hbm: { read_bytes: golden.sums.hbm.read_bytes, written_bytes: golden.sums.hbm.written_bytes },
  l2_to_sm: { read_bytes: golden.sums.l2_to_sm.read_bytes, written_bytes: golden.sums.l2_to_sm.written_bytes },
});
const tiles = (schedule: Schedule, time: number): FlowTile[] => {
  const list = tilesAt(schedule, time);
  return list.items.slice(0, list.count).map((tile) => ({ ...tile }));
};

it("holds all twelve cases", () => {
  expect(named.map(([name]) => name)).toHaveLength(12);
  expect(new Set(named.map(([name]) => name)).size).toBe(12);
});

describe.each(views)("%s", (_, golden, schedule) => {
  it("ends at the sums of the server and starts at nothing", () => {
    expect(tallyAt(schedule, schedule.num_steps)).toEqual(lines(golden));
    expect(tallyAt(schedule, 0)).toEqual(sums([]));
  });

  it("stands at every whole step at the sum of the moves before it", () => {
    for (let step = 0; step <= schedule.num_steps; step++)
      expect(tallyAt(schedule, step)).toEqual(sums(schedule.moves.filter((move) => move.step < step)));
  });

  it("is the same scrubbed forwards, backwards or jumped to", () => {
    const times = Array.from({ length: 60 }, (_, i) => (((i * 37) % 60) / 59) * schedule.num_steps);
    const fresh = () => ({ ...schedule });
    const look = (of: Schedule, time: number) => ({ tally: tallyAt(of, time), tiles: tiles(of, time) });
    const forwards = fresh();
    const ordered = [...times].sort((a, b) => a - b);
    const played = new Map(ordered.map((time) => [time, look(forwards, time)]));
    const backwards = fresh();
    for (const time of ordered.reverse()) expect(look(backwards, time)).toEqual(played.get(time));
    for (const time of times.slice(0, 5)) expect(look(fresh(), time)).toEqual(played.get(time));
  });

  it("counts a tile when it has arrived, whatever the moment", () => {
    for (let i = 0; i <= 150; i++) {
      const time = (i / 150) * schedule.num_steps;
      const now = tallyAt(schedule, time);
      const total = (of: typeof now) => of.hbm.read_bytes + of.hbm.written_bytes + of.l2_to_sm.read_bytes + of.l2_to_sm.written_bytes;
      const due = sums(schedule.moves.filter(({ step }) => step <= time));
      expect(total(now)).toBeLessThanOrEqual(total(due));
      expect(total(now)).toBeGreaterThanOrEqual(total(sums(schedule.moves.filter(({ step }) => step + 1 <= time))));
    }
  });

  it("draws each tile on an SM that is at work or holds it", () => {
    for (let i = 0; i < 150; i++)
      for (const tile of tiles(schedule, ((i + 0.5) / 150) * schedule.num_steps))
        if (tile.leg === "l2_to_sm" || tile.leg === "sm_to_l2")
          expect(ownersAt(schedule, ((i + 0.5) / 150) * schedule.num_steps)).toContain(tile.row);
  });
});

describe.each(named)("%s, all SMs at once", (_, golden) => {
  const schedule = atOnce(golden);
  const without = ({ step: _step, ...rest }: Move) => JSON.stringify(rest);

  it("makes the same moves, no more and no fewer", () => {
    expect(schedule.moves.map(without).sort()).toEqual(golden.moves.map(without).sort());
    expect(schedule.computes.map(({ m_block, n_block }) => `${m_block} ${n_block}`).sort()).toEqual(
      golden.computes.map(({ m_block, n_block }) => `${m_block} ${n_block}`).sort(),
    );
  });

  it("takes fewer steps where rows or columns are independent, and says where they are not", () => {
    if (runsAtOnce(golden)) expect(schedule.num_steps).toBeLessThan(golden.num_steps / 2);
    else expect(schedule).toBe(golden);
  });

  it("works on one score block per SM at a time", () => {
    const seen = new Set<string>();
    for (const { owner, computes } of schedule.strands ?? [])
      for (const { step } of computes) {
        expect(seen.has(`${owner} ${step}`)).toBe(false);
        seen.add(`${owner} ${step}`);
      }
  });

  it("reads nothing that is not there yet", () => {
    const first = (from: string, to: string) => {
      const found = new Map<string, number>();
      for (const { step, tensor, m_block, n_block, source, target } of schedule.moves) {
        const key = tileKey(tensor, m_block, n_block);
        if (source === from && target === to) found.set(key, Math.min(found.get(key) ?? step, step));
      }
      return found;
    };
    const [out, made] = [first("hbm", "l2"), first("sm", "l2")];
    for (const [key, step] of first("l2", "sm"))
      expect(step, key).toBeGreaterThanOrEqual(Math.min(out.get(key) ?? Number.POSITIVE_INFINITY, made.get(key) ?? Number.POSITIVE_INFINITY));
  });

  it("sends a tile back to HBM only after its last change in that kernel", () => {
    const last = new Map<string, number>();
    for (const { step, tensor, m_block, n_block, source } of schedule.moves)
      if (source === "sm") {
        const key = tileKey(tensor, m_block, n_block);
        last.set(key, Math.max(last.get(key) ?? 0, step));
      }
    for (const { step, tensor, m_block, n_block, target } of schedule.moves)
      if (target === "hbm") expect(step).toBe(last.get(tileKey(tensor, m_block, n_block)));
  });
});

it("keeps P from the forward pass where the standard way needs it backward, and nothing where version 2 does not", () => {
  for (const [, golden] of named.filter(([, { direction }]) => direction === "backward"))
    for (let m = 0; m < golden.blocks_m; m++)
      for (let n = 0; n < golden.blocks_n; n++)
        expect(keptAt(golden, 0, m, n, 1)).toBe(golden.algorithm === "standard");
});

it("runs version 1 on one SM from the first step to the last", () => {
  for (const [, golden] of named.filter(([, { algorithm }]) => algorithm === "fa1")) {
    const seen = new Set(Array.from({ length: golden.num_steps }, (_, step) => ownersAt(golden, step + 0.5)).flat());
    expect(seen.size).toBe(1);
  }
});
