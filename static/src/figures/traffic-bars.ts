/*
 * The two lines that bytes cross, side by side, each way of computing a bar made of its matrices: width is bytes, on one
 * scale for both lines. Bars are made once; a new answer changes widths and texts.
 */
import { makeSvg } from "../ui/dom";
import { put } from "../ui/slots";
import { Sized } from "./sized";

export interface BarPart {
  tensor: string;
  bytes: number;
}

export interface Bar {
  name: string;
  total: string;
  parts: readonly BarPart[];
}

export interface BarColumn {
  title: string;
  bars: readonly Bar[];
}

/** Letter and colour of every matrix; gradients wear the colour of what they are the gradient of. */
export const TENSORS: Readonly<Record<string, { letter: string; color: string; pale?: boolean }>> = {
  q: { letter: "Q", color: "var(--q)" },
  k: { letter: "K", color: "var(--k)" },
  v: { letter: "V", color: "var(--v)" },
  s: { letter: "S", color: "var(--s)" },
  p: { letter: "P", color: "var(--s)", pale: true },
  o: { letter: "O", color: "var(--o)" },
  o_acc: { letter: "O", color: "var(--o)", pale: true },
  do: { letter: "dO", color: "var(--o)", pale: true },
  dp: { letter: "dP", color: "var(--s)", pale: true },
  ds: { letter: "dS", color: "var(--s)" },
  dq: { letter: "dQ", color: "var(--q)", pale: true },
  dq_acc: { letter: "dQ", color: "var(--q)", pale: true },
  dk: { letter: "dK", color: "var(--k)", pale: true },
  dv: { letter: "dV", color: "var(--v)", pale: true },
  stats: { letter: "m, ℓ", color: "var(--stat)" },
  lse: { letter: "lse", color: "var(--stat)" },
  delta: { letter: "δ", color: "var(--stat)", pale: true },
};
const ORDER = Object.keys(TENSORS);
const ROW = 50;
const TOP = 30;
const BAR = 22;
const GAP = 28;
const SIDE_BY_SIDE = 520;
const LETTER_WIDTH = 9;

interface Drawn {
  parts: Map<string, { rect: SVGRectElement; text: SVGTextElement }>;
  name: SVGTextElement;
  total: SVGTextElement;
}

export class TrafficBars extends Sized {
  private columns: readonly BarColumn[] = [];
  private drawn: Drawn[][] = [];
  private room = 0;

  constructor(host: HTMLElement) {
    super(host, { class: "traffic-bars", role: "img" });
  }

  show(columns: readonly BarColumn[], spoken: string): void {
    const rebuilt = columns.length !== this.columns.length;
    this.columns = columns;
    this.say(spoken);
    if (rebuilt) this.layout();
    else this.place();
  }

  protected layout(): void {
    if (!this.width || !this.columns.length) return;
    const beside = this.width >= SIDE_BY_SIDE;
    this.room = beside ? (this.width - GAP) / 2 : this.width;
    const rows = this.columns.map(({ bars }) => bars.length);
    const heights = rows.map((count) => TOP + count * ROW);
    this.frame(beside ? Math.max(...heights) : heights.reduce((sum, height) => sum + height, 0));
    this.svg.replaceChildren();
    this.drawn = this.columns.map((column, at) => {
      const x = beside ? at * (this.room + GAP) : 0;
      const y = beside ? 0 : heights.slice(0, at).reduce((sum, height) => sum + height, 0);
      const group = makeSvg("g", { transform: `translate(${x} ${y})` });
      group.append(makeSvg("text", { x: 0, y: 16, class: "figure-strong" }, column.title));
      this.svg.append(group);
      return column.bars.map((_, row) => this.bar(group, TOP + row * ROW));
    });
    this.place();
  }

  private bar(group: SVGGElement, y: number): Drawn {
    const name = makeSvg("text", { x: 0, y: y + 12, class: "figure-label" });
    const total = makeSvg("text", { x: this.room, y: y + 12, "text-anchor": "end", class: "figure-strong" });
    const track = makeSvg("rect", { x: 0, y: y + 18, width: this.room, height: BAR, class: "bar-track" });
    const parts: Drawn["parts"] = new Map();
    const layer = makeSvg("g");
    for (const tensor of ORDER) {
      const { color, pale } = TENSORS[tensor] as (typeof TENSORS)[string];
      const rect = makeSvg("rect", { y: y + 18, height: BAR, fill: color, visibility: "hidden" });
      if (pale) rect.setAttribute("class", "pale");
      const text = makeSvg("text", {
        y: y + 18 + BAR / 2 + 5,
        "text-anchor": "middle",
        class: "bar-letter",
        visibility: "hidden",
      });
      parts.set(tensor, { rect, text });
      layer.append(rect, text);
    }
    group.append(name, total, track, layer);
    return { parts, name, total };
  }

  private place(): void {
    if (!this.width) return;
    const sums = this.columns.flatMap(({ bars }) => bars.map(({ parts }) => sum(parts)));
    const scale = this.room / Math.max(1, ...sums);
    this.columns.forEach((column, at) => {
      column.bars.forEach((bar, row) => {
        const drawn = this.drawn[at]?.[row];
        if (drawn) place(drawn, bar, scale);
      });
    });
  }
}

function place(drawn: Drawn, bar: Bar, scale: number): void {
  write(drawn.name, bar.name);
  write(drawn.total, bar.total);
  let x = 0;
  const bytes = new Map(bar.parts.map((part) => [part.tensor, part.bytes]));
  for (const [tensor, { rect, text }] of drawn.parts) {
    const width = (bytes.get(tensor) ?? 0) * scale;
    if (!width) {
      put(rect, { visibility: "hidden" });
      put(text, { visibility: "hidden" });
      continue;
    }
    put(rect, { visibility: "visible", x: x.toFixed(2), width: Math.max(width, 0.5).toFixed(2) });
    const letter = TENSORS[tensor]?.letter ?? tensor;
    const fits = width > letter.length * LETTER_WIDTH + 4;
    put(text, fits ? { visibility: "visible", x: (x + width / 2).toFixed(2) } : { visibility: "hidden" });
    if (fits) write(text, letter);
    x += width;
  }
}

function write(element: SVGTextElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function sum(parts: readonly BarPart[]): number {
  return parts.reduce((total, { bytes }) => total + bytes, 0);
}
