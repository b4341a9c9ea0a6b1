/*
 * Schedules for the tests, walked out here block by block as the algorithms are written, and random ones that follow
 * no algorithm at all.
 */
import { seededRandom } from "../../../static/src/math/random";
import type { Level, Move, Schedule, Tensor } from "../../../static/src/stand/types";

const IN: readonly [Level, Level][] = [
  ["hbm", "l2"],
  ["l2", "sm"],
];
const OUT: readonly [Level, Level][] = [
  ["sm", "l2"],
  ["l2", "hbm"],
];

class Walker {
  readonly moves: Move[] = [];
  readonly computes: { step: number; m_block: number; n_block: number }[] = [];
  step = 0;

  go(
    tensor: Tensor,
    m_block: number | null,
    n_block: number | null,
    legs: readonly (readonly [Level, Level])[],
    bytes: number,
  ): void {
    for (const [source, target] of legs)
      this.moves.push({ step: this.step, tensor, m_block, n_block, source, target, bytes });
  }

  compute(m_block: number, n_block: number): void {
    this.computes.push({ step: this.step, m_block, n_block });
  }
}

function finish(walker: Walker, algorithm: Schedule["algorithm"], blocks: number): Schedule {
  return {
    algorithm,
    direction: "forward",
    blocks_m: blocks,
    blocks_n: blocks,
    num_steps: walker.step,
    moves: walker.moves,
    computes: walker.computes,
  };
}

/** Bytes per tile: every kind its own prime, so that sums cannot agree by accident. */
export const BYTES = { q: 101, k: 103, v: 107, s: 109, p: 113, o: 127 };

export function fa2(blocks: number): Schedule {
  const walker = new Walker();
  for (let m = 0; m < blocks; m++)
    for (let n = 0; n < blocks; n++) {
      if (n === 0) walker.go("q", m, null, IN, BYTES.q);
      for (const tensor of ["k", "v"] as const)
        walker.go(tensor, null, n, m === 0 ? IN : IN.slice(1), BYTES[tensor]);
      walker.compute(m, n);
      if (n === blocks - 1) walker.go("o", m, null, OUT, BYTES.o);
      walker.step++;
    }
  return finish(walker, "fa2", blocks);
}

export function standard(blocks: number): Schedule {
  const walker = new Walker();
  const each = (work: (m: number, n: number) => void) => {
    for (let m = 0; m < blocks; m++)
      for (let n = 0; n < blocks; n++) {
        work(m, n);
        walker.compute(m, n);
        walker.step++;
      }
  };
  each((m, n) => {
    if (n === 0) walker.go("q", m, null, IN, BYTES.q);
    if (m === 0) walker.go("k", null, n, IN, BYTES.k);
    walker.go("s", m, n, OUT, BYTES.s);
  });
  each((m, n) => {
    walker.go("s", m, n, IN, BYTES.s);
    if (n === blocks - 1) for (let column = 0; column < blocks; column++) walker.go("p", m, column, OUT, BYTES.p);
  });
  each((m, n) => {
    walker.go("p", m, n, IN, BYTES.p);
    if (m === 0) walker.go("v", null, n, IN, BYTES.v);
    if (n === blocks - 1) walker.go("o", m, null, OUT, BYTES.o);
  });
  return finish(walker, "standard", blocks);
}

/** K and V outside, as in version 1: the SM keeps them while the Q blocks pass. */
export function keysOutside(blocks: number): Schedule {
  const walker = new Walker();
  for (let n = 0; n < blocks; n++)
    for (let m = 0; m < blocks; m++) {
      if (m === 0) for (const tensor of ["k", "v"] as const) walker.go(tensor, null, n, IN, BYTES[tensor]);
      walker.go("q", m, null, n === 0 ? IN : IN.slice(1), BYTES.q);
      walker.go("o", m, null, n === 0 ? IN : IN.slice(1), BYTES.o);
      walker.compute(m, n);
      walker.go("o", m, null, n === blocks - 1 ? OUT : OUT.slice(0, 1), BYTES.o);
      walker.step++;
    }
  return finish(walker, "fa2", blocks);
}

const TENSORS: readonly Tensor[] = ["q", "k", "v", "s", "p", "o", "lse", "dq"];

/** Any moves in any order between neighbouring levels. */
export function random(seed: number): Schedule {
  const next = seededRandom(seed);
  const whole = (below: number) => Math.floor(next() * below);
  const blocks = 1 + whole(8);
  const steps = 1 + whole(30);
  const walker = new Walker();
  for (; walker.step < steps; walker.step++) {
    if (next() < 0.8) walker.compute(whole(blocks), whole(blocks));
    for (let i = whole(7); i > 0; i--) {
      const tensor = TENSORS[whole(TENSORS.length)] as Tensor;
      const leg = [...IN, ...OUT][whole(4)] as [Level, Level];
      walker.go(tensor, whole(blocks), next() < 0.5 ? whole(blocks) : null, [leg], 1 + whole(2 ** 40));
    }
  }
  return finish(walker, "standard", blocks);
}

/** Bytes by line and direction, added up move by move. */
export function sums(moves: readonly Move[]) {
  const add = (source: Level, target: Level) =>
    moves.reduce((sum, move) => (move.source === source && move.target === target ? sum + move.bytes : sum), 0);
  return {
    hbm: { read_bytes: add("hbm", "l2"), written_bytes: add("l2", "hbm") },
    l2_to_sm: { read_bytes: add("l2", "sm"), written_bytes: add("sm", "l2") },
  };
}
