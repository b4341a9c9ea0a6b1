/* Axes over d3 scales: ticks, grid lines and a name, linear or logarithmic, along the bottom or the left. */
import type { ScaleLinear, ScaleLogarithmic } from "d3-scale";
import { type Frame, label, line } from "./frame";

export type Scale = ScaleLinear<number, number> | ScaleLogarithmic<number, number>;

export interface AxisOptions {
  /** Where the other axis ends: grid lines run from `from` to `to`. */
  from: number;
  to: number;
  values: readonly number[];
  format: (value: number) => string;
  name: string;
}

export function bottomAxis(frame: Frame, scale: Scale, options: AxisOptions): void {
  const { from, to, values, format, name } = options;
  for (const value of values) {
    const x = scale(value);
    frame.svg.append(line(x, from, x, to, "grid"), label(x, to + frame.em * 1.15, format(value), { anchor: "middle" }));
  }
  const [low, high] = scale.range() as [number, number];
  frame.svg.append(
    line(low, to, high, to),
    label(high, to + frame.em * 2.5, name, { anchor: "end", class: "axis-name" }),
  );
}

export function leftAxis(frame: Frame, scale: Scale, options: AxisOptions): void {
  const { from, to, values, format, name } = options;
  for (const value of values) {
    const y = scale(value);
    frame.svg.append(
      line(from, y, to, y, "grid"),
      label(from - frame.em * 0.4, y + frame.em * 0.35, format(value), { anchor: "end" }),
    );
  }
  frame.svg.append(label(0, frame.em, name, { class: "axis-name" }));
}

/** Powers of `base` within a logarithmic scale, thinned until at most `most` are left. */
export function powers(scale: Scale, base: number, most: number): number[] {
  const [low, high] = scale.domain() as [number, number];
  const first = Math.ceil(Math.log(low) / Math.log(base) - 1e-9);
  const last = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
  const stride = Math.max(1, Math.ceil((last - first + 1) / most));
  const found: number[] = [];
  for (let power = first; power <= last; power += stride) found.push(base ** power);
  return found;
}
