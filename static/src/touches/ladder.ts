/* Chapter 2: the four levels of memory by size and speed, on logarithmic scales. Pick one and it lights on the stand. */
import { scaleLog } from "d3-scale";
import { bottomAxis, powers } from "../figures/axis";
import { frame, label, line, rect, responsive } from "../figures/frame";
import { rowsOf, type TableRow, tableIn } from "../figures/table-data";
import { choice } from "../ui/controls";
import { make, makeSvg } from "../ui/dom";
import { decimalBytes } from "../ui/format";
import type { Touch } from "./context";

/** What lights on the stand for each level; shared memory and registers lie in the SMs. */
const PARTS: Readonly<Record<string, string>> = { hbm: "hbm", l2: "l2", smem: "sm", registers: "sm" };

const ladder: Touch = (live, host, context) => {
  const rows = rowsOf(tableIn(host, ".ladder-table"));
  const place = make("div", { class: "figure-host" });
  const said = make("p", { class: "touch-said", role: "status" });
  let held: string | null = null;

  const pick = (id: string) => {
    held = id;
    context.light(context.partsNamed(PARTS[id] ?? ""));
    const row = rows.find((item) => item.id === id) as TableRow;
    const { size, speed, one } = row.cells;
    said.textContent = `${row.name}: ${size?.text} in all, ${speed?.value ? `${speed.text}.` : "no figure for the speed was found."} For one SM: ${one?.text}.`;
    redraw();
  };
  const options = rows.map(({ id, name }) => ({ value: id, text: name }));
  live.append(choice("Level", options, "", pick), place, said);

  const redraw = responsive(place, () => {
    const drawn = frame(
      place,
      4.4 * rows.length + 3.6,
      "Size and speed of four levels of memory",
      rows.map(({ name, cells }) => `${name}: ${cells.size?.text}, ${cells.speed?.text}.`).join(" "),
    );
    const { svg, width, em } = drawn;
    const half = width / 2;
    const bottom = drawn.height - em * 2.9;
    const size = scaleLog([1e7, 1e11], [half - em * 1.6, em * 2]);
    const speed = scaleLog([1e12, 1e14], [half + em * 1.6, width - em * 2.4]);
    const axis = { from: em * 0.4, to: bottom };
    // The ticks nearest to the middle would run into each other.
    const apart = (scale: typeof size) =>
      powers(scale, 10, 3).filter((value) => Math.abs(scale(value) - half) > em * 4);
    bottomAxis(drawn, size, { ...axis, values: apart(size), format: decimalBytes, name: "" });
    bottomAxis(drawn, speed, {
      ...axis,
      values: apart(speed),
      format: (value) => `${decimalBytes(value)}/s`,
      name: "",
    });
    svg.append(
      label(em * 0.5, drawn.height - em * 0.3, "← holds more", { class: "axis-name" }),
      label(width - em * 0.5, drawn.height - em * 0.3, "gives faster →", { anchor: "end", class: "axis-name" }),
    );
    svg.append(...rows.map((row, i) => rung(row, em * (4.4 * i + 1.2))));

    function rung(row: TableRow, y: number): SVGGElement {
      const group = makeSvg("g", { class: row.id === held ? "rung held" : "rung" });
      const { size: holds, speed: gives } = row.cells;
      group.append(label(half, y, row.name, { anchor: "middle", bold: true, class: "on-bar" }));
      const middle = y + em * 1.2;
      if (holds?.value) {
        const x = size(holds.value);
        group.append(
          bar(x, size.range()[0] as number, middle),
          label(x, middle + em * 1.6, holds.text, { anchor: x > half - em * 6 ? "middle" : "start" }),
        );
      }
      if (gives?.value) {
        const x = speed(gives.value);
        group.append(
          bar(speed.range()[0] as number, x, middle),
          label(x, middle + em * 1.6, gives.text, { anchor: "middle" }),
        );
      } else group.append(label(half + em * 1.6, middle + em * 0.4, gives?.text ?? "", { class: "axis-name" }));
      group.append(line(half, middle - em * 0.6, half, middle + em * 0.6));
      group.addEventListener("pointerenter", () => context.glance(context.partsNamed(PARTS[row.id] ?? "")));
      group.addEventListener("pointerleave", () => context.glance(null));
      group.addEventListener("click", () => live.querySelector<HTMLInputElement>(`input[value="${row.id}"]`)?.click());
      return group;
    }

    function bar(from: number, to: number, y: number): SVGRectElement {
      return rect({ x: from, y: y - em * 0.4, width: Math.max(2, to - from), height: em * 0.8 });
    }
  });
};

export default ladder;
