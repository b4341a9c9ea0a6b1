/* A logarithmic axis: value to position and back, and the powers of ten on it. */

export interface LogScale {
  at(value: number): number;
  back(position: number): number;
  /** Powers of ten inside the domain, every `every`-th exponent. */
  tens(every?: number): number[];
}

export function logScale(low: number, high: number, from: number, to: number): LogScale {
  const start = Math.log(low);
  const span = Math.log(high) - start;
  return {
    at: (value) => from + ((Math.log(value) - start) / span) * (to - from),
    back: (position) => Math.exp(start + ((position - from) / (to - from)) * span),
    tens(every = 1) {
      const found: number[] = [];
      const first = Math.ceil(Math.log10(low) / every - 1e-9) * every;
      for (let exponent = first; exponent <= Math.log10(high) + 1e-9; exponent += every) found.push(10 ** exponent);
      return found;
    },
  };
}

/** Positions moved apart until neighbours keep `gap`, none beyond the ends; order and list index are kept. */
export function spread(positions: readonly number[], gap: number, low: number, high: number): number[] {
  const order = positions.map((_, index) => index).sort((a, b) => (positions[a] as number) - (positions[b] as number));
  const placed = [...positions];
  let floor = low;
  for (const index of order) {
    placed[index] = Math.max(placed[index] as number, floor);
    floor = (placed[index] as number) + gap;
  }
  let ceiling = high;
  for (const index of order.toReversed()) {
    placed[index] = Math.min(placed[index] as number, ceiling);
    ceiling = (placed[index] as number) - gap;
  }
  return placed;
}
