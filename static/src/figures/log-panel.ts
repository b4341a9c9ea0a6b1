/*
 * Curves and bands over N on one log-log panel, with a line at the lever, measured points and ghost markers. The curves
 * belong to a setting and are drawn once; the lever moves only the line and its dots. It is a slider itself: arrow keys
 * and a press on the panel move the lever too.
 */
import { type LogScale, logScale, spread } from "../math/log-scale";
import { make, makeSvg } from "../ui/dom";
import { put } from "../ui/slots";
import { legendItem, legendMark } from "./legend";
import { Sized } from "./sized";

export interface PanelCurve {
  kind: "line" | "band";
  label: string;
  /** Names of a band's lower and upper edge. */
  edges?: readonly [string, string];
  /** CSS colour. */
  color: string;
  dash?: string;
  low: readonly number[];
  /** Upper edge; equal to `low` for a line. */
  high: readonly number[];
}

export interface PanelMark {
  kind: "ghost" | "measured";
  x: number;
  y: number;
  label: string;
  /** Its entry in the legend, shared by marks that look alike. */
  key?: string;
  color?: string;
  hollow?: boolean;
}

export interface PanelData {
  xs: readonly number[];
  curves: readonly PanelCurve[];
  marks: readonly PanelMark[];
}

export interface PanelWishes {
  /** The reader points at a length. */
  at(x: number): void;
  /** The reader presses a key: so many stops. */
  by(stops: number): void;
}

const HEIGHT = 402;
/** Two lines of type above: the name of the axis, then the length at the lever. */
const MARGIN = { top: 48, bottom: 46, left: 58 };
/** Room for the longest name at the right, in heights of the type. */
const LABEL_ROOM = 17.6;
const ROOMY = 560;
const NAMES: readonly (readonly [number, string])[] = [
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
];

export class LogPanel extends Sized {
  private data: PanelData | null = null;
  private index = 0;
  private x: LogScale = logScale(1, 10, 0, 1);
  private y: LogScale = logScale(1, 10, 0, 1);
  private readonly cursor = makeSvg("line", { stroke: "var(--ink)", "stroke-width": 1.5 });
  private readonly cursorText = makeSvg("text", { class: "figure-strong", "text-anchor": "middle" });
  private dots: SVGCircleElement[][] = [];
  private readonly legend = make("ul", { class: "figure-legend" });

  constructor(
    host: HTMLElement,
    private readonly wishes: PanelWishes,
  ) {
    super(host, { class: "log-panel", tabindex: "0", role: "slider", "aria-label": "Sequence length, on the chart" });
    host.append(this.legend);
    this.svg.addEventListener("keydown", (event) => {
      const stops = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 4, PageDown: -4 }[event.key];
      const ends = { Home: -1e3, End: 1e3 }[event.key];
      if (stops === undefined && ends === undefined) return;
      event.preventDefault();
      this.wishes.by(stops ?? ends ?? 0);
    });
    const point = (event: PointerEvent): void => {
      const box = this.svg.getBoundingClientRect();
      this.wishes.at(this.x.back(((event.clientX - box.left) / box.width) * this.width));
    };
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      point(event);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (this.svg.hasPointerCapture(event.pointerId)) point(event);
    });
  }

  /** New curves: another setting, or another guess. */
  show(data: PanelData): void {
    this.data = data;
    this.layout();
  }

  /** The lever's place among the xs. */
  move(index: number, spoken: string): void {
    this.index = index;
    put(this.svg, { "aria-valuenow": index, "aria-valuetext": spoken });
    this.place();
  }

  protected layout(): void {
    const { data } = this;
    if (!data || !this.width) return;
    const roomy = this.width >= ROOMY;
    const right = this.width - (roomy ? LABEL_ROOM * this.type : 14);
    const all = data.curves.flatMap((curve) => [...curve.low, ...curve.high]);
    const low = 10 ** Math.floor(Math.log10(Math.min(...all)));
    const high = 10 ** Math.ceil(Math.log10(Math.max(...all)));
    this.frame(HEIGHT);
    this.x = logScale(data.xs[0] as number, data.xs.at(-1) as number, MARGIN.left, right);
    this.y = logScale(low, high, HEIGHT - MARGIN.bottom, MARGIN.top);
    put(this.svg, { "aria-valuemin": 0, "aria-valuemax": data.xs.length - 1 });
    this.svg.replaceChildren(
      ...this.axes(data.xs, right),
      ...data.curves.flatMap((curve) => this.curve(curve, data.xs)),
    );
    if (roomy) this.svg.append(...this.labels(data.curves, right));
    this.legend.replaceChildren(...(roomy ? [] : data.curves.map(legendItem)), ...legendOf(data.marks));
    this.legend.hidden = !this.legend.childElementCount;
    this.dots = data.curves.map((curve) =>
      (curve.kind === "band" ? [0, 1] : [0]).map(() =>
        makeSvg("circle", { r: 4.5, fill: curve.color, stroke: "var(--sheet)", "stroke-width": 1.5 }),
      ),
    );
    this.svg.append(this.cursor, this.cursorText, ...this.dots.flat(), ...this.marks(data.marks));
    this.place();
  }

  private place(): void {
    const { data } = this;
    if (!data || !this.width) return;
    const n = data.xs[this.index];
    if (n === undefined) return;
    const x = this.x.at(n).toFixed(1);
    put(this.cursor, { x1: x, x2: x, y1: MARGIN.top - 4, y2: HEIGHT - MARGIN.bottom });
    const half = 3.3 * this.type;
    const middle = Math.max(MARGIN.left - 6 + half, Math.min(Number(x), this.width - half));
    put(this.cursorText, { x: middle.toFixed(1), y: MARGIN.top - 10 });
    const text = `N = ${n.toLocaleString("en")}`;
    if (this.cursorText.textContent !== text) this.cursorText.textContent = text;
    data.curves.forEach((curve, at) => {
      this.dots[at]?.forEach((dot, edge) => {
        const value = (edge ? curve.high : curve.low)[this.index];
        if (value !== undefined) put(dot, { cx: x, cy: this.y.at(value).toFixed(1) });
      });
    });
  }

  private axes(xs: readonly number[], right: number): SVGElement[] {
    const bottom = HEIGHT - MARGIN.bottom;
    const lines = this.y.tens(1).flatMap((value) => {
      const y = this.y.at(value);
      const named = Math.round(Math.log10(value)) % 3 === 0;
      const line = makeSvg("line", {
        x1: MARGIN.left,
        x2: right,
        y1: y,
        y2: y,
        class: named ? "grid-line strong" : "grid-line",
      });
      return named
        ? [line, makeSvg("text", { x: MARGIN.left - 8, y: y + 4, "text-anchor": "end" }, short(value))]
        : [line];
    });
    const octaves = xs.filter((n) => Number.isInteger(Math.log2(n)));
    const every = right - MARGIN.left < 46 * octaves.length ? 2 : 1;
    const ticks = octaves.flatMap((n, at) => {
      const x = this.x.at(n);
      const tick = makeSvg("line", { x1: x, x2: x, y1: bottom, y2: bottom + 5, class: "axis-line" });
      const text = makeSvg("text", { x, y: bottom + 6 + this.type, "text-anchor": "middle" }, n.toLocaleString("en"));
      return at % every ? [tick] : [tick, text];
    });
    const base = makeSvg("line", { x1: MARGIN.left, x2: right, y1: bottom, y2: bottom, class: "axis-line" });
    const name = { class: "figure-quiet" };
    return [
      ...lines,
      base,
      ...ticks,
      makeSvg("text", { ...name, x: right, y: bottom + 38, "text-anchor": "end" }, "sequence length N, tokens →"),
      makeSvg("text", { ...name, x: 4, y: 14 }, "bytes, operations"),
    ];
  }

  private curve(curve: PanelCurve, xs: readonly number[]): SVGElement[] {
    const path = (values: readonly number[]): string[] =>
      values.map((value, at) => `${this.x.at(xs[at] as number).toFixed(1)},${this.y.at(value).toFixed(1)}`);
    const edge = (values: readonly number[]): SVGElement =>
      makeSvg("polyline", {
        points: path(values).join(" "),
        fill: "none",
        stroke: curve.color,
        "stroke-width": 2.25,
        ...(curve.dash ? { "stroke-dasharray": curve.dash } : {}),
      });
    if (curve.kind === "line") return [edge(curve.low)];
    const outline = [...path(curve.low), ...path(curve.high).toReversed()].join(" ");
    const fill = makeSvg("polygon", { points: outline, fill: curve.color, "fill-opacity": 0.16 });
    return [fill, edge(curve.low), edge(curve.high)];
  }

  /** Names at the right ends, moved apart where curves end close to each other. */
  private labels(curves: readonly PanelCurve[], right: number): SVGElement[] {
    const ends = curves.flatMap((curve) => {
      const low = { text: curve.label, color: curve.color, y: this.y.at(curve.low.at(-1) as number) };
      if (!curve.edges) return [low];
      const high = { ...low, y: this.y.at(curve.high.at(-1) as number) };
      return [
        { ...low, text: `${curve.label}, ${curve.edges[0]}` },
        { ...high, text: `${curve.label}, ${curve.edges[1]}` },
      ];
    });
    const placed = spread(
      ends.map(({ y }) => y),
      1.3 * this.type,
      MARGIN.top,
      HEIGHT - MARGIN.bottom,
    );
    return ends.flatMap(({ text, color, y }, at) => {
      const to = placed[at] as number;
      const lead = makeSvg("path", { d: `M${right + 2} ${y}L${right + 12} ${to}`, stroke: color, fill: "none" });
      return [lead, makeSvg("text", { x: right + 15, y: to + 4, class: "figure-label" }, text)];
    });
  }

  private marks(marks: readonly PanelMark[]): SVGElement[] {
    return marks.map((mark) => {
      const { kind, x, y, label } = mark;
      const at = `translate(${this.x.at(x).toFixed(1)} ${this.y.at(y).toFixed(1)})`;
      const shape =
        kind === "measured" ? diamond(mark) : makeSvg("path", { d: "M0 -8L8 0L0 8L-8 0Z", class: "mark-ghost" });
      const leftwards = this.x.at(x) > this.width * 0.55;
      const text = makeSvg(
        "text",
        { x: leftwards ? -13 : 13, y: 4, class: "figure-strong", "text-anchor": leftwards ? "end" : "start" },
        kind === "measured" ? "" : label,
      );
      return makeSvg("g", { transform: at }, makeSvg("title", {}, label), shape, text);
    });
  }
}

/** One mark of every look, in the order they come. */
function legendOf(marks: readonly PanelMark[]): HTMLLIElement[] {
  const looks = new Map(marks.flatMap((mark) => (mark.key ? [[mark.key, mark] as const] : [])));
  return [...looks].map(([name, mark]) => legendMark(name, diamond(mark)));
}

function diamond({ color, hollow }: PanelMark): SVGPathElement {
  const look = hollow ? { fill: "var(--sheet)", stroke: color } : { fill: color, stroke: "var(--sheet)" };
  const path = makeSvg("path", {
    d: "M0 -7L7 0L0 7L-7 0Z",
    class: "mark-measured",
    "stroke-width": hollow ? 2.25 : 1.5,
  });
  // A style, because the theme's colours are custom properties.
  Object.assign(path.style, look);
  return path;
}

function short(value: number): string {
  const [size, name] = NAMES.find(([least]) => value >= least) ?? [1, ""];
  return `${value / size} ${name}`.trim();
}
