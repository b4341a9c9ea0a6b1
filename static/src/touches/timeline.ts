/*
 * Chapter 11: one SM over time, a producer that loads and two consumer groups that take turns on the tensor cores; as a
 * figure here and on a board over the die. Read from the table behind it.
 */
import { frame, label, rect, responsive } from "../figures/frame";
import { rowsOf, tableIn } from "../figures/table-data";
import type { Span } from "../stand/types";
import { make, makeSvg } from "../ui/dom";
import type { TouchContext } from "./context";

/** Rows of the figure in lines of text: the name above, the spans below. */
const ROW = 4;

export function showTimeline(live: HTMLElement, host: HTMLElement, context: TouchContext): void {
  const table = tableIn(host, ".timeline-table");
  const rows = (table.dataset.rows ?? "").split("|");
  const spans = rowsOf(table).map(({ id, element, cells }): Span => {
    const { work, operand, block } = element.dataset;
    const sign = work === "softmax" ? "softmax" : `${operand}${block}`;
    return {
      row: Number(id),
      start: cells.start?.value ?? 0,
      stop: cells.stop?.value ?? 0,
      work: work as Span["work"],
      text: sign,
    };
  });
  context.chart(host, { kind: "timeline", rows, spans });
  const place = make("div", { class: "figure-host" });
  live.append(place);
  const own = host.querySelector(".own-roles");
  if (own) live.append(own); // it speaks of the drawing
  responsive(place, () => {
    const { svg, width, em } = frame(
      place,
      ROW * rows.length + 1.6,
      "One SM over time",
      "A producer loads blocks of K and V. The consumer groups take turns: while one does its softmax, another multiplies. Not to scale.",
    );
    const unit = (width - 2) / Math.max(1, ...spans.map(({ stop }) => stop));
    rows.forEach((name, row) => {
      svg.append(label(0, em * (ROW * row + 1.1), name, { bold: true }));
    });
    for (const { row, start, stop, work, text } of spans) {
      const [x, y] = [1 + start * unit, em * (ROW * row + 1.6)];
      const group = makeSvg("g", { class: `work work-${work}` });
      const fits = (stop - start) * unit > em * (text.length * 0.62);
      group.append(rect({ x, y, width: (stop - start) * unit - 1.5, height: em * 1.8 }));
      if (fits) group.append(label(x + ((stop - start) * unit) / 2, y + em * 1.25, text, { anchor: "middle" }));
      svg.append(group);
    }
    svg.append(label(0, em * (ROW * rows.length + 0.8), "time → not to scale", { class: "axis-name" }));
  });
}
