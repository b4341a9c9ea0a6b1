/*
 * Chapter 11: the ladder of versions, as rates or as shares of the peak, published figures first and our own kernels
 * below them. A rung nobody has measured yet says so.
 */
import { scaleLinear } from "d3-scale";
import { frame, label, line, rect, responsive } from "../figures/frame";
import { fills } from "../figures/patterns";
import { rowsOf, type TableRow, tableIn } from "../figures/table-data";
import { choice, list } from "../ui/controls";
import { make, makeSvg } from "../ui/dom";
import type { Touch } from "./context";
import { showTimeline } from "./timeline";

type Measure = "rate" | "share";

const versions: Touch = (live, host, context) => {
  const published = rowsOf(tableIn(host, ".versions-table"));
  const own = rowsOf(tableIn(host, ".own-table"));
  let measure: Measure = "rate";
  let held: string | null = null;
  const place = make("div", { class: "figure-host" });
  const said = make("p", { class: "touch-said", role: "status" });
  const measures = [
    { value: "rate", text: "TFLOP/s" },
    { value: "share", text: "share of the peak" },
  ] as const;
  const bars = list(
    "Bar",
    [{ value: "", text: "pick one" }, ...[...published, ...own].map((row) => ({ value: row.id, text: nameOf(row) }))],
    "",
    (id) => hold([...published, ...own].find((row) => row.id === id)),
  );
  live.append(
    choice<Measure>("Measure", measures, measure, (value) => {
      measure = value;
      redraw();
    }),
    place,
    bars,
    said,
  );
  const redraw = responsive(place, draw);
  showTimeline(live, host, context);

  function nameOf(row: TableRow): string {
    const gpu = row.element.dataset.gpu ?? "";
    return gpu ? `${row.name} · ${gpu.replace("NVIDIA ", "").toUpperCase()}` : row.name;
  }

  function hold(row: TableRow | undefined): void {
    held = row?.id ?? null;
    const select = bars.querySelector("select");
    if (select) select.value = held ?? "";
    if (row) {
      const { rate, share, against, conditions } = row.cells;
      const beside = against ? `; against FlashAttention-3’s library in the same run: ${against.text}` : "";
      const told = conditions ? ` Conditions: ${conditions.text}.` : "";
      said.textContent = `${nameOf(row)}: ${rate?.text}; share of the peak: ${share?.text}${beside}.${told}`;
    } else said.textContent = "";
    redraw();
  }

  function draw(): void {
    const rung = 3.5;
    const rows = [...published, ...own];
    const told = rows.map((row) => `${nameOf(row)}: ${row.cells[measure]?.text ?? row.cells.rate?.text}.`);
    const drawn = frame(place, rung * rows.length + 3.6, "Versions of FlashAttention, rung by rung", told.join(" "));
    const { svg, width, em } = drawn;
    const fill = fills(drawn, ["o", "plain"]);
    const most = measure === "share" ? 1 : Math.max(...rows.map((row) => row.cells.rate?.value ?? 0));
    const x = scaleLinear([0, most], [0, width - em * 7]);
    rows.forEach((row, i) => {
      const mine = i >= published.length;
      const y = em * (rung * i + (mine ? 2.4 : 0.4));
      if (i === published.length)
        svg.append(
          line(0, y - em * 0.9, width, y - em * 0.9),
          label(0, y + em * 0.3, "Our own kernels", { class: "axis-name" }),
        );
      const top = y + em * (mine ? 1.2 : 0);
      const group = makeSvg("g", { class: row.id === held ? "rung held" : "rung" });
      group.append(label(0, top + em, nameOf(row)));
      const cell = row.cells[measure] ?? row.cells.rate;
      const value = cell?.value ?? null;
      if (value === null)
        group.append(rect({ class: "ghost", x: 1, y: top + em * 1.4, width: em * 3, height: em * 1.2 }));
      else
        group.append(
          rect({
            x: 0,
            y: top + em * 1.4,
            width: x(value),
            height: em * 1.2,
            fill: fill(mine ? "plain" : "o"),
          }),
        );
      group.append(label((value === null ? em * 3 : x(value)) + em * 0.4, top + em * 2.35, cell?.text ?? ""));
      group.addEventListener("click", () => hold(row));
      svg.append(group);
    });
  }
};

export default versions;
