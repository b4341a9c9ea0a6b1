/*
 * Chapter 3: an operation dragged along the axis of intensity under the roof of a GPU. The roof is read from the server,
 * stop by stop; the named operations from the table below.
 */
import { scaleLog } from "d3-scale";
import { line as path } from "d3-shape";
import { getRoofline } from "../api/client";
import type { RooflineAnswer, RoofPoint } from "../api/schema.gen";
import { bottomAxis, leftAxis, powers } from "../figures/axis";
import { type Frame, frame, label, line, responsive } from "../figures/frame";
import { rowsOf, tableIn } from "../figures/table-data";
import { list, type Option, slider } from "../ui/controls";
import { make, makeSvg } from "../ui/dom";
import { digits, operations } from "../ui/format";
import type { Touch } from "./context";

const GPUS: readonly Option<string>[] = [
  { value: "h100_sxm5", text: "H100 SXM5" },
  { value: "h200_sxm", text: "H200 SXM" },
  { value: "a100_sxm4_40", text: "A100, HBM2" },
  { value: "a100_sxm4_80", text: "A100, HBM2e" },
];
const SHORT: Readonly<Record<string, string>> = {
  softmax: "softmax",
  standard: "standard",
  matmul: "matmul",
  flash: "FlashAttention",
};

const roofline: Touch = (live, host, context) => {
  const named = rowsOf(tableIn(host, ".operations")).map((row) => ({
    id: row.id,
    name: row.name,
    intensity: Number(row.element.querySelector("td")?.dataset.value),
  }));
  const place = make("div", { class: "figure-host draggable" });
  const said = make("p", { class: "touch-said", role: "status" });
  const picks = make("div", { class: "touch-row", role: "group", "aria-label": "Operation" });
  let gpu = context.store.get().gpu as string;
  let roof: RooflineAnswer | null = null;
  let marks: RoofPoint[] = [];
  let chosen: { point: RoofPoint; name: string } | null = null;
  let asked = 0;
  let drag: ((clientX: number) => void) | null = null;

  const lever = slider("Operations a byte", 1, 0, (index) => choose(roof?.points[index], "Your operation"));
  for (const { id, name } of named) {
    const button = make("button", { type: "button", "data-operation": id }, name);
    button.addEventListener("click", () => choose(marks[named.findIndex((item) => item.id === id)], name));
    picks.append(button);
  }
  live.append(
    list("GPU", GPUS, gpu, (value) => {
      gpu = value;
      void load();
    }),
    picks,
    place,
    lever.label,
    said,
  );
  place.addEventListener("pointerdown", (event) => {
    place.setPointerCapture(event.pointerId);
    drag?.(event.clientX);
  });
  place.addEventListener("pointermove", (event) => place.hasPointerCapture(event.pointerId) && drag?.(event.clientX));
  const redraw = responsive(place, draw);
  void load();

  async function load(): Promise<void> {
    const mine = ++asked;
    try {
      const [whole, exact] = await Promise.all([
        getRoofline(gpu),
        getRoofline(
          gpu,
          named.map(({ intensity }) => intensity),
        ),
      ]);
      if (mine !== asked) return;
      roof = whole;
      marks = exact.points;
    } catch {
      said.textContent = "The roof could not be loaded; the tables below hold its corner.";
      return;
    }
    lever.input.max = String(roof.points.length - 1);
    const kept = chosen?.name === "Your operation" ? roof.points[Number(lever.input.value)] : undefined;
    const again = named.findIndex(({ name }) => name === chosen?.name);
    const fallback = named.findIndex(({ id }) => id === "standard");
    const index = again < 0 ? fallback : again;
    choose(kept ?? marks[index], kept ? "Your operation" : (named[index]?.name ?? ""));
  }

  function choose(point: RoofPoint | undefined, name: string): void {
    if (!point || !roof) return;
    chosen = { point, name };
    const nearest = nearestIndex(roof.points, point.intensity);
    lever.input.value = String(nearest);
    const per = `${digits(point.intensity, 3)} FLOP/byte`;
    lever.input.setAttribute("aria-valuetext", per);
    const binds = point.bound === "memory" ? "Memory binds it" : "Arithmetic binds it";
    said.textContent = `${name}, ${per}, on ${roof.name}: at most ${operations(point.flops_per_s)}/s, ${digits(100 * point.share_of_peak, 3)} % of the peak. ${binds}.`;
    for (const button of picks.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(button.textContent === name));
    redraw();
  }

  function draw(): void {
    const drawn = frame(place, 19, `Roofline of ${roof?.name ?? "a GPU"}`, said.textContent ?? "");
    if (!roof) return;
    const points = roof.points;
    const [first, last] = [points[0] as RoofPoint, points[points.length - 1] as RoofPoint];
    const { svg, width, height, em } = drawn;
    const left = em * 4.6;
    const bottom = height - em * 3;
    const x = scaleLog([first.intensity, last.intensity], [left, width - em * 0.8]);
    const y = scaleLog([first.flops_per_s, last.flops_per_s * 2.2], [bottom, em * 1.8]);
    const axis = { from: em * 1.8, to: bottom };
    bottomAxis(drawn, x, {
      ...axis,
      values: powers(x, 4, width > em * 28 ? 8 : 4),
      format: (value) => digits(value, 2),
      name: "operations a byte of HBM traffic",
    });
    leftAxis(drawn, y, {
      from: left,
      to: width - em * 0.8,
      values: powers(y, 10, 6),
      format: (value) => operations(value).replace("FLOP", ""),
      name: "FLOP/s at most",
    });
    const d =
      path<RoofPoint>()
        .x((point) => x(point.intensity))
        .y((point) => y(point.flops_per_s))(points) ?? "";
    svg.append(makeSvg("path", { d, class: "roof" }));
    const ridge = x(roof.ridge_point);
    svg.append(line(ridge, axis.from, ridge, bottom, "ridge"));
    svg.append(
      ...marks.flatMap((point, i) => mark(drawn, x(point.intensity), y(point.flops_per_s), named[i]?.id ?? "", i)),
    );
    if (chosen) {
      const [cx, cy] = [x(chosen.point.intensity), y(chosen.point.flops_per_s)];
      svg.append(line(cx, cy, cx, bottom, "drop"), makeSvg("circle", { cx, cy, r: em * 0.75, class: "handle" }));
    }
    drag = (clientX) => {
      const at = x.invert(((clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width) * width);
      choose(points[nearestIndex(points, at)], "Your operation");
    };
  }

  function mark({ em, width }: Frame, cx: number, cy: number, id: string, i: number): SVGElement[] {
    const end = cx > width * 0.6;
    // Neighbours on the flat roof take turns above and below it.
    const below = i % 2 === 0 ? 1.6 : -0.9;
    return [
      makeSvg("circle", { cx, cy, r: em * 0.4, class: "named" }),
      label(cx + (end ? em * 0.5 : em * 0.8), cy + em * below, SHORT[id] ?? id, { anchor: end ? "end" : "start" }),
    ];
  }
};

/** The stop nearest to an intensity on the logarithmic axis. */
export function nearestIndex(points: readonly { intensity: number }[], intensity: number): number {
  let best = 0;
  const off = (index: number) => Math.abs(Math.log((points[index]?.intensity ?? 1) / Math.max(intensity, 1e-9)));
  for (let index = 1; index < points.length; index++) if (off(index) < off(best)) best = index;
  return best;
}

export default roofline;
