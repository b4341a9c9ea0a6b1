/* Planes of a cut by name, as in an address: "z0.36". */
import type { Cut } from "./types";

/** The plane a text such as "z0.36" names; null for anything else. */
export function cutNamed(text: string): Cut | null {
  const axis = text[0];
  const at = Number(text.slice(1));
  return (axis === "x" || axis === "z") && text.length > 1 && Number.isFinite(at) ? { axis, at } : null;
}

/** Where a cut begins when the reader asks for one: through balls, vias and a stack on either axis. */
export const FIRST_CUT: Readonly<Record<Cut["axis"], number>> = { x: 0.66, z: 0.36 };

/** The text for a plane, to a hundredth. */
export function cutText({ axis, at }: Cut): string {
  return `${axis}${Math.round(at * 100) / 100}`;
}
