/* What a tile is called: in the address, for reading, and whether two of them are the same one. */
import { sideOf } from "./flow-kinds";
import type { Followed, Tensor } from "./types";

/** Sums still growing in 32 bits are the same tile as what they become. */
const SAME: Partial<Record<Tensor, Tensor>> = { o_acc: "o", dq_acc: "dq" };
const NAME = /^(q|k|v|s|p|o|do|dq|dk|dv|dp|ds)(\d{1,2})(?:\.(\d{1,2}))?$/;
const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

/** "k3" or "s2.5", counted from 0, as the address has it; null for anything else. */
export function tileNamed(text: string | null): Followed | null {
  const found = text === null ? null : NAME.exec(text);
  if (!found) return null;
  const tensor = found[1] as Tensor;
  const side = sideOf(tensor);
  if ((side === "mn") !== (found[3] !== undefined)) return null;
  const first = Number(found[2]);
  return { tensor, m: side === "n" ? -1 : first, n: side === "n" ? first : side === "mn" ? Number(found[3]) : -1 };
}

export function nameOf({ tensor, m, n }: Followed): string {
  const own = SAME[tensor] ?? tensor;
  const side = sideOf(own);
  return side === "mn" ? `${own}${m}.${n}` : `${own}${side === "n" ? n : m}`;
}

/** For reading: K₄ is the fourth block of K. */
export function titleOf({ tensor, m, n }: Followed): string {
  const own = SAME[tensor] ?? tensor;
  const letters = own.startsWith("d") ? `d${own.slice(1).toUpperCase()}` : own.toUpperCase();
  const low = (index: number) => [...String(index + 1)].map((digit) => SUBSCRIPTS[Number(digit)]).join("");
  const side = sideOf(own);
  return `${letters}${side === "mn" ? `${low(m)}‚${low(n)}` : low(side === "n" ? n : m)}`;
}

export function isSame(tile: Followed, followed: Followed): boolean {
  const side = sideOf(followed.tensor);
  return (
    (SAME[tile.tensor] ?? tile.tensor) === followed.tensor &&
    (side === "n" || tile.m === followed.m) &&
    (side === "m" || tile.n === followed.n)
  );
}
