/*
 * Chapter 10: the published memory series, linear or logarithmic, and the published times, each beside its own baseline.
 * Every number is read from the tables below the charts.
 */
import { scaleLinear, scaleLog } from "d3-scale";
import { line as path } from "d3-shape";
import { bottomAxis, leftAxis, powers } from "../figures/axis";
import { frame, label, rect, responsive } from "../figures/frame";
import { fills } from "../figures/patterns";
import { rowsOf, type TableRow, tableIn } from "../figures/table-data";
import { choice, slider } from "../ui/controls";
import { make, makeSvg } from "../ui/dom";
import { digits, whole } from "../ui/format";
import type { Touch } from "./context";

type Mode = "linear" | "log";
type Chart = "memory" | "time";
const GIB = 2 ** 30;

const series: Touch = (live, host, context) => {
  const memory = rowsOf(tableIn(host, ".memory-table"));
  const speed = rowsOf(tableIn(host, ".speed-table"));
  let mode: Mode = "log";
  let held = memory.findIndex((row) => row.cells.standard?.value === null) - 1;
  const place = make("div", { class: "figure-host" });
  const bars = make("div", { class: "figure-host" });
  const said = make("p", { class: "touch-said", role: "status" });
  const modes = [
    { value: "log", text: "logarithmic" },
    { value: "linear", text: "linear" },
  ] as const;
  const charts = [
    { value: "memory", text: "memory" },
    { value: "time", text: "training time" },
  ] as const;
  const show = (chart: Chart) => {
    memoryPart.hidden = chart !== "memory";
    bars.hidden = chart !== "time";
  };
  const lever = slider("Row", memory.length - 1, held, (index) => hold(index));
  const scales = choice<Mode>("Scales", modes, mode, (value) => {
    mode = value;
    redraw();
    standColumns();
  });
  const memoryPart = make("div", {}, scales, place, lever.label, said);
  live.append(choice<Chart>("Chart", charts, "memory", show), memoryPart, bars);
  const redraw = responsive(place, drawMemory);
  hold(held);
  responsive(bars, () => drawSpeed(bars, speed));
  show("memory");

  function hold(index: number): void {
    held = index;
    const { name, cells } = memory[index] as TableRow;
    lever.input.value = String(index);
    lever.input.setAttribute("aria-valuetext", `${name} tokens`);
    said.textContent = `N = ${name}: standard ${cells.standard?.text}, FlashAttention ${cells.flash?.text}. A100, batch 16, 8 heads, d = 64, forward and backward.`;
    redraw();
    standColumns();
  }

  /** The same row on the stand: two columns beside the package, on the scale of the chart. */
  function standColumns(): void {
    const { name, cells } = memory[held] as TableRow;
    const scale = (mode === "log" ? scaleLog : scaleLinear)(reach(), [0, 1]);
    const column = (value: number | null | undefined) => (value ? Math.max(0, scale(value)) : 0);
    context.chart(host, {
      kind: "columns",
      bars: [
        { share: column(cells.standard?.value), tint: "s" },
        { share: column(cells.flash?.value), tint: "o" },
      ],
      notes: [
        { bar: 0, text: `Standard, N = ${name}:\n${cells.standard?.text}` },
        { bar: 1, text: `FlashAttention:\n${cells.flash?.text}` },
      ],
    });
  }

  /** What the memory axis spans, with some room around the figures of the table. */
  function reach(): [number, number] {
    const all = memory.flatMap(({ cells }) => [cells.standard?.value ?? [], cells.flash?.value ?? []].flat());
    const [least, most] = [Math.min(...all), Math.max(...all)];
    return mode === "log" ? [least / 2, most * 1.5] : [0, most * 1.05];
  }

  function drawMemory(): void {
    const drawn = frame(place, 18, "Memory by sequence length, as published", said.textContent ?? "");
    const { svg, width, height, em } = drawn;
    const [left, bottom, right, top] = [em * 4, height - em * 3, width - em, em * 2];
    const lengths = memory.map((row) => Number(row.id));
    const ends: [number, number] = [lengths[0] ?? 1, lengths[lengths.length - 1] ?? 2];
    const x = mode === "log" ? scaleLog(ends, [left, right]) : scaleLinear([0, ends[1]], [left, right]);
    const y = (mode === "log" ? scaleLog : scaleLinear)(reach(), [bottom, top]);
    const xs = mode === "log" ? powers(x, 4, 6) : x.ticks(4);
    const ys = mode === "log" ? powers(y, 4, 7) : [0, 4, 8, 12, 16].map((value) => value * GIB);
    bottomAxis(drawn, x, { from: top, to: bottom, values: xs, format: whole, name: "tokens, N" });
    leftAxis(drawn, y, { from: left, to: right, values: ys, format: binary, name: "memory" });
    for (const [cell, name, kind] of [
      ["standard", "standard", "s"],
      ["flash", "FlashAttention", "o"],
    ] as const) {
      const points = memory.flatMap((row) => {
        const value = row.cells[cell]?.value;
        return value ? [{ x: x(Number(row.id)), y: y(value), value }] : [];
      });
      const d =
        path<{ x: number; y: number }>()
          .x((point) => point.x)
          .y((point) => point.y)(points) ?? "";
      svg.append(makeSvg("path", { d, class: `series series-${kind}` }));
      const dots = points.map(({ x: cx, y: cy }, i) =>
        makeSvg("circle", { cx, cy, r: em * (i === held ? 0.55 : 0.32), class: `dot dot-${kind}` }),
      );
      svg.append(...dots);
      const last = points[points.length - 1];
      if (last)
        svg.append(
          label(last.x - em * 0.6, last.y + em * (cell === "flash" ? 3.8 : -0.6), name, { anchor: "end", bold: true }),
        );
    }
    const at = x(lengths[held] ?? 1);
    svg.append(makeSvg("line", { x1: at, x2: at, y1: top, y2: bottom, class: "ridge" }));
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const here = ((event.clientX - box.left) / box.width) * width;
      const distances = lengths.map((length) => Math.abs(x(length) - here));
      const nearest = distances.indexOf(Math.min(...distances));
      if (nearest !== held) hold(nearest);
    });
  }
};

function binary(bytes: number): string {
  return bytes >= GIB ? `${digits(bytes / GIB, 3)} GiB` : `${digits(bytes / 2 ** 20, 3)} MiB`;
}

/** Pairs of bars, each as a share of its own baseline: lengths can be compared within a pair, and the pairs by their ratio. */
function drawSpeed(place: HTMLElement, rows: readonly TableRow[]): void {
  const pair = 5.6;
  const told = rows.map(
    (row) =>
      `${row.element.dataset.model}, against ${row.cells.baseline?.text}: ${row.cells.before?.text} became ${row.cells.after?.text}.`,
  );
  const drawn = frame(place, pair * rows.length + 1.5, "Training times, each beside its own baseline", told.join(" "));
  const { svg, width, em } = drawn;
  const fill = fills(drawn, ["s", "o"]);
  svg.append(label(0, em, "training time, each with its baseline", { class: "axis-name" }));
  rows.forEach((row, i) => {
    const y = em * (1.6 + pair * i);
    const { baseline, before, after } = row.cells;
    const left = em * 9.4;
    const x = scaleLinear([0, before?.value ?? 1], [0, width - left - em * 5]);
    const [model = "", ...where] = (row.element.dataset.model ?? "").split(", ");
    svg.append(
      label(0, y + em, model, { bold: true }),
      label(width, y + em, where.join(", "), { anchor: "end", class: "axis-name" }),
    );
    const pairOf = [
      { cell: before, name: baseline?.text, kind: "s" },
      { cell: after, name: "FlashAttention", kind: "o" },
    ] as const;
    pairOf.forEach(({ cell, name, kind }, at) => {
      const top = y + em * (1.4 + 1.75 * at);
      const length = x(cell?.value ?? 0);
      svg.append(
        label(0, top + em * 1.1, name ?? ""),
        rect({ x: left, y: top, width: length, height: em * 1.4, fill: fill(kind) }),
        label(left + length + em * 0.4, top + em * 1.1, cell?.text ?? ""),
      );
    });
  });
}

export default series;
