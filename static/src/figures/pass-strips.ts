/*
 * Passes over K and V: a strip for each way of computing, one pair of colours a pass. Where there are more passes than
 * pairs can be told apart, a pair stands for several, and the caption says how many.
 */
import { makeSvg } from "../ui/dom";
import { digits, whole } from "../ui/format";
import { put, Slot } from "../ui/slots";
import { Sized } from "./sized";

export interface PassStrip {
  name: string;
  passes: number;
}

const ROW = 48;
const BAR = 20;
/** Most pairs of the longest strip. */
const MOST = 32;
const WIDEST = 26;
const GAP = 2;

export class PassStrips extends Sized {
  private strips: readonly PassStrip[] = [];
  private drawn: { rect: SVGRectElement; count: Slot }[] = [];
  private readonly pair = makeSvg("pattern", { id: "kv-pass", patternUnits: "userSpaceOnUse", height: ROW });
  private readonly k = makeSvg("rect", { height: ROW, fill: "var(--k)" });
  private readonly v = makeSvg("rect", { height: ROW, fill: "var(--v)" });
  private readonly scale = new Slot();

  constructor(host: HTMLElement) {
    super(host, { class: "pass-strips", role: "img" });
    this.pair.append(this.k, this.v);
  }

  show(strips: readonly PassStrip[], spoken: string): void {
    this.host.hidden = !strips.length;
    const rebuilt = strips.length !== this.strips.length;
    this.strips = strips;
    this.say(spoken);
    if (rebuilt) this.layout();
    else this.place();
  }

  protected layout(): void {
    const { strips } = this;
    if (!this.width || !strips.length) return;
    this.frame(ROW * strips.length + 22);
    this.drawn = [];
    this.svg.replaceChildren(makeSvg("defs", {}, this.pair));
    strips.forEach(({ name }, at) => {
      const y = at * ROW;
      const count = new Slot();
      const rect = makeSvg("rect", { x: 0, y: y + 21, height: BAR, fill: "url(#kv-pass)" });
      const total = makeSvg("text", { x: this.width, y: y + 15, "text-anchor": "end", class: "figure-strong" });
      total.append(count.node);
      this.svg.append(makeSvg("text", { x: 0, y: y + 15, class: "figure-label" }, name), total, rect);
      this.drawn.push({ rect, count });
    });
    const caption = makeSvg("text", { x: 0, y: ROW * strips.length + 14, class: "figure-quiet" });
    caption.append(this.scale.node);
    this.svg.append(caption);
    this.place();
  }

  private place(): void {
    const { strips } = this;
    if (!this.width || !strips.length) return;
    const most = Math.max(1, ...strips.map(({ passes }) => passes));
    const each = 2 ** Math.max(0, Math.ceil(Math.log2(most / MOST)));
    const step = Math.min(WIDEST, this.width / MOST);
    const half = (step - GAP) / 2;
    put(this.pair, { width: step });
    put(this.k, { width: half });
    put(this.v, { x: half, width: half });
    strips.forEach(({ passes }, at) => {
      const drawn = this.drawn[at];
      if (!drawn) return;
      put(drawn.rect, { width: ((passes / each) * step).toFixed(1), "data-passes": passes });
      drawn.count.set(passes === 1 ? "one pass" : `${digits(passes, 4)} passes`);
    });
    this.scale.set(each === 1 ? "Each pair is one pass." : `Each pair stands for ${whole(each)} passes.`);
  }
}
