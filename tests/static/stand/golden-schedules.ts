/* The server's own schedules for every algorithm, direction and mask, from tests/golden. */
import { readFileSync } from "node:fs";
import type { Compute, Level, Move, Schedule, Tensor } from "../../../static/src/stand/types";

interface Line {
  read_bytes: number;
  written_bytes: number;
  total_bytes: number;
}

type Stored = Omit<Schedule, "moves" | "computes"> & {
  causal: boolean;
  sums: { hbm: Line; l2_to_sm: Line };
  moves: [number, Tensor, number | null, number | null, Level, Level, number][];
  computes: [number, number, number][];
};

export type Golden = Schedule & Pick<Stored, "causal" | "sums">;

const stored = JSON.parse(readFileSync(new URL("../../golden/schedules.json", import.meta.url), "utf8")) as Stored[];

export const golden: Golden[] = stored.map((one) => ({
  ...one,
  moves: one.moves.map(
    ([step, tensor, m_block, n_block, source, target, bytes]): Move => ({
      step,
      tensor,
      m_block,
      n_block,
      source,
      target,
      bytes,
    }),
  ),
  computes: one.computes.map(([step, m_block, n_block]): Compute => ({ step, m_block, n_block })),
}));

export const named: [string, Golden][] = golden.map((one) => [
  `${one.algorithm} ${one.direction}${one.causal ? " causal" : ""}`,
  one,
]);
