/*
 * The roofs of several GPUs, log-log, and where the ways of computing stand under the chosen one. A roof is two lines
 * that meet at the ridge point; the heights of the points come with them.
 */
import { type LogScale, logScale } from "../math/log-scale";
import { make, makeSvg } from "../ui/dom";
import { put } from "../ui/slots";
import { legendLine } from "./legend";
import { Sized } from "./sized";

export interface Roof {
  id: string;
  name: string;
  flopsPerS: number;
  ridgePoint: number;
}

export interface RoofPoint {
  name: string;
  intensity: number;
  flopsPerS: number;
  color: string;
  hollow?: boolean;
}

const HEIGHT = 300;
const MARGIN = { top: 28, bottom: 44, left: 64, right: 26 };
/** One dash for each roof, so that the legend can tell them apart without colours. */
const DASHES = ["none", "12 3", "6 3", "2 3"];
const DOMAIN = { intensity: [1, 100_000], rate: [1e12, 2e15] } as const;

export class RooflineFigure extends Sized {
  private x: LogScale = logScale(1, 10, 0, 1);
  private y: LogScale = logScale(1, 10, 0, 1);
  private chosen = "";
  private points: readonly RoofPoint[] = [];
  private marks: SVGCircleElement[] = [];
  private readonly legend = make("ul", { class: "figure-legend roofs" });

  constructor(
    host: HTMLElement,
    private readonly roofs: readonly Roof[],
  ) {
    super(host, { class: "roofline", role: "img" });
    host.append(this.legend);
  }

  show(chosen: string, points: readonly RoofPoint[], spoken: string): void {
    const rebuilt = chosen !== this.chosen || points.length !== this.points.length;
    this.chosen = chosen;
    this.points = points;
    this.say(spoken);
    if (rebuilt) this.layout();
    else this.place();
  }

  protected layout(): void {
    if (!this.width) return;
    this.frame(HEIGHT);
    this.x = logScale(DOMAIN.intensity[0], DOMAIN.intensity[1], MARGIN.left, this.width - MARGIN.right);
    this.y = logScale(DOMAIN.rate[0], DOMAIN.rate[1], HEIGHT - MARGIN.bottom, MARGIN.top);
    this.marks = this.points.map((point) => dot(point, 6));
    const last = this.roofs.filter(({ id }) => id !== this.chosen).map((roof) => this.roof(roof, false));
    const mine = this.roofs.filter(({ id }) => id === this.chosen).map((roof) => this.roof(roof, true));
    this.svg.replaceChildren(...this.axes(), ...last.flat(), ...mine.flat());
    this.svg.append(...this.names(), ...this.marks);
    this.legend.replaceChildren(...this.roofs.map((roof) => legendLine(roof.name, this.look(roof))));
    this.place();
  }

  private place(): void {
    if (!this.width) return;
    this.points.forEach((point, at) => {
      const mark = this.marks[at];
      if (!mark) return;
      const x = this.x.at(Math.min(point.intensity, DOMAIN.intensity[1]));
      const y = this.y.at(Math.max(point.flopsPerS, DOMAIN.rate[0]));
      put(mark, { cx: x.toFixed(1), cy: y.toFixed(1) });
    });
  }

  /** Below the roof on the right there is always room. */
  private names(): SVGElement[] {
    const x = this.width - MARGIN.right - 12.6 * this.type;
    const y = HEIGHT - MARGIN.bottom - 18 * this.points.length;
    return this.points.flatMap((point, at) => {
      const key = dot(point, 5);
      put(key, { cx: x, cy: y + 18 * at });
      return [key, makeSvg("text", { x: x + 12, y: y + 18 * at + 4, class: "figure-label halo" }, point.name)];
    });
  }

  private look({ id }: Roof): Record<string, string> {
    const dash = DASHES[this.roofs.findIndex((roof) => roof.id === id) % DASHES.length] ?? "none";
    return { class: id === this.chosen ? "roof chosen" : "roof", "stroke-dasharray": dash };
  }

  private roof(roof: Roof, chosen: boolean): SVGElement[] {
    const slope = roof.flopsPerS / roof.ridgePoint;
    const first = DOMAIN.rate[0] / slope;
    const points = [
      [Math.max(first, DOMAIN.intensity[0]), Math.max(DOMAIN.rate[0], slope * DOMAIN.intensity[0])],
      [roof.ridgePoint, roof.flopsPerS],
      [DOMAIN.intensity[1], roof.flopsPerS],
    ].map(([x, y]) => `${this.x.at(x as number).toFixed(1)},${this.y.at(y as number).toFixed(1)}`);
    const line = makeSvg("polyline", {
      points: points.join(" "),
      fill: "none",
      ...this.look(roof),
    });
    line.append(makeSvg("title", {}, roof.name));
    if (!chosen) return [line];
    const label = { x: this.width - MARGIN.right, y: this.y.at(roof.flopsPerS) - 8, "text-anchor": "end" };
    return [line, makeSvg("text", { ...label, class: "figure-strong" }, roof.name)];
  }

  private axes(): SVGElement[] {
    const bottom = HEIGHT - MARGIN.bottom;
    const right = this.width - MARGIN.right;
    const tens = this.x.tens();
    const every = (right - MARGIN.left) / (tens.length - 1) < 3.5 * this.type ? 2 : 1;
    const down = tens.flatMap((value, at) => {
      const x = this.x.at(value);
      const text = value < 1000 ? String(value) : `${value / 1000}\u00a0k`;
      const middle = Math.min(x, this.width - 0.28 * this.type * text.length);
      return [
        makeSvg("line", { x1: x, x2: x, y1: MARGIN.top, y2: bottom, class: "grid-line" }),
        ...(at % every ? [] : [makeSvg("text", { x: middle, y: bottom + 18, "text-anchor": "middle" }, text)]),
      ];
    });
    const across = this.y.tens().flatMap((value) => {
      const y = this.y.at(value);
      return [
        makeSvg("line", { x1: MARGIN.left, x2: right, y1: y, y2: y, class: "grid-line" }),
        makeSvg("text", { x: MARGIN.left - 8, y: y + 4, "text-anchor": "end" }, (value / 1e12).toLocaleString("en")),
      ];
    });
    const name = { class: "figure-quiet" };
    return [
      ...down,
      ...across,
      makeSvg("text", { ...name, x: right, y: bottom + 36, "text-anchor": "end" }, "operations per byte →"),
      makeSvg("text", { ...name, x: 4, y: 14 }, "TFLOP/s"),
    ];
  }
}

function dot({ color, hollow }: RoofPoint, r: number): SVGCircleElement {
  const look = hollow
    ? { fill: "var(--sheet)", stroke: color, "stroke-width": 3 }
    : { fill: color, stroke: "var(--sheet)", "stroke-width": 1.5 };
  return makeSvg("circle", { r, ...look });
}
