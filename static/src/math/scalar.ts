/*
 * Scalars in motion: clamping, blending and the easing curves that every transition of the exhibit uses.
 * Pure functions of one number; nothing here knows what is being moved.
 */

export function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}

export function lerp(from: number, to: number, k: number): number {
  return from + (to - from) * k;
}

/** Where `value` lies between `start` and `end`, held to 0…1; a window of no width acts as a switch. */
export function progress(value: number, start: number, end: number): number {
  if (end <= start) return value >= end ? 1 : 0;
  return clamp((value - start) / (end - start), 0, 1);
}

/** Slow, fast, slow: for things that leave rest and come to rest. Takes and gives 0…1. */
export function easeInOut(k: number): number {
  return k < 0.5 ? 4 * k * k * k : 1 - (2 - 2 * k) ** 3 / 2;
}

/** Fast, then slow: for things that arrive. Takes and gives 0…1. */
export function easeOut(k: number): number {
  return 1 - (1 - k) ** 3;
}

/** The shortest way round from one angle to another, in radians, −π…π. */
export function angleBetween(from: number, to: number): number {
  const turn = (to - from) % (2 * Math.PI);
  if (turn > Math.PI) return turn - 2 * Math.PI;
  if (turn < -Math.PI) return turn + 2 * Math.PI;
  return turn;
}

export const DEGREE = Math.PI / 180;
