/* The row of scores as bars: what has been taken, what is being taken, the running maximum, and where a pointer drags. */
import { scaleBand, scaleLinear } from "d3-scale";
import type { SoftmaxAnswer } from "../api/schema.gen";
import { frame, label, line, rect, responsive } from "../figures/frame";
import { fills } from "../figures/patterns";
import { digits } from "../ui/format";

export interface RowState {
  scores: readonly number[];
  values: readonly number[];
  answer: SoftmaxAnswer | null;
  step: number;
}

export interface RowView {
  redraw(): void;
  /** The bar under a place in the window, -1 for none. */
  barAt(clientX: number): number;
  /** The score a height in the window stands for. */
  scoreOf(clientY: number): number;
}

/** Dragging moves in quarters and stays within the drawing. */
export function scoreAt(view: RowView, clientY: number): number {
  return Math.round(view.scoreOf(clientY) * 4) / 4;
}

export function drawRow(place: HTMLElement, state: () => RowState): RowView {
  let bar: (clientX: number) => number = () => -1;
  let score: (clientY: number) => number = () => 0;
  const redraw = responsive(place, () => {
    const { scores, answer, step } = state();
    const now = answer?.steps[Math.min(step, answer.steps.length) - 1];
    const drawn = frame(
      place,
      13,
      "A row of scores",
      `Scores ${scores.join(", ")}.${now ? ` Scores ${now.start + 1} to ${now.stop} are being taken; the maximum so far is ${digits(now.row_max, 4)}.` : ""}`,
    );
    const { svg, width, height, em } = drawn;
    const reach = Math.max(4, Math.ceil(Math.max(...scores.map(Math.abs))));
    const y = scaleLinear([-reach, reach], [height - em * 0.6, em * 1.4]);
    const names = scores.map((_, i) => i);
    const x = scaleBand(names, [em * 2.4, width - em * 5.4]).padding(0.22);
    const fill = fills(drawn, ["s"]);
    for (const value of [-reach, 0, reach])
      svg.append(
        line(em * 2.4, y(value), width, y(value), value ? "grid" : "rule"),
        label(em * 2, y(value) + em * 0.35, digits(value, 3), { anchor: "end" }),
      );
    scores.forEach((value, i) => {
      const stage = !now ? "waiting" : i < now.start ? "taken" : i < now.stop ? "taking" : "waiting";
      const [top, bottom] = [y(Math.max(0, value)), y(Math.min(0, value))];
      const left = x(i) ?? 0;
      svg.append(
        rect({
          class: `score score-${stage}`,
          x: left,
          y: top,
          width: x.bandwidth(),
          height: Math.max(2, bottom - top),
          fill: stage === "waiting" ? "none" : fill("s"),
        }),
        rect({
          class: "grip",
          x: left,
          y: y(value) - em * 0.25,
          width: x.bandwidth(),
          height: em * 0.5,
          rx: em * 0.25,
        }),
      );
    });
    if (now) {
      const level = y(now.row_max);
      svg.append(
        line(em * 2.4, level, width, level, "maximum"),
        label(width, level - em * 0.4, `m = ${digits(now.row_max, 4)}`, {
          anchor: "end",
          bold: true,
          class: "on-bar",
        }),
      );
    }
    const box = () => svg.getBoundingClientRect();
    bar = (clientX) => {
      const at = ((clientX - box().left) / box().width) * width - em * 2.4;
      return Math.floor(at / x.step());
    };
    score = (clientY) => Math.max(-reach, Math.min(reach, y.invert(((clientY - box().top) / box().height) * height)));
  });
  return { redraw, barAt: (clientX) => bar(clientX), scoreOf: (clientY) => score(clientY) };
}
