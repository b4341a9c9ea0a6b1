/* A guess and the answers on one logarithmic scale of factors: the guess is a hollow marker that stays. */
import { logScale, spread } from "../math/log-scale";
import { makeSvg } from "../ui/dom";
import { digits, factor } from "../ui/format";
import { Sized } from "./sized";

export interface Factor {
  name: string;
  value: number;
  strong: boolean;
}

const LINE = 30;
const ROW = 21;
const SIDE = 26;
const TICKS = [0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128];

export class FactorScale extends Sized {
  private factors: readonly Factor[] = [];
  private guess = 1;

  constructor(host: HTMLElement) {
    super(host, { class: "factor-scale", role: "img" });
  }

  show(factors: readonly Factor[], guess: number): void {
    this.factors = factors;
    this.guess = guess;
    this.say(this.spoken());
    this.layout();
  }

  protected layout(): void {
    if (!this.width || !this.factors.length) return;
    const all = [1, 4, this.guess, ...this.factors.map(({ value }) => value)];
    const x = logScale(Math.min(...all) / 1.3, Math.max(...all) * 1.3, SIDE, this.width - SIDE);
    const height = LINE + 34 + this.factors.length * ROW;
    this.frame(height);
    const ticks = TICKS.filter((tick) => tick >= Math.min(...all) / 1.3 && tick <= Math.max(...all) * 1.3);
    const rows = spread(
      this.factors.map((_, at) => LINE + 40 + at * ROW),
      ROW,
      LINE,
      height,
    );
    this.svg.replaceChildren(
      makeSvg("line", { x1: SIDE, x2: this.width - SIDE, y1: LINE, y2: LINE, class: "axis-line" }),
      ...ticks.flatMap((tick) => [
        makeSvg("line", { x1: x.at(tick), x2: x.at(tick), y1: LINE - 4, y2: LINE + 4, class: "axis-line" }),
        makeSvg("text", { x: x.at(tick), y: LINE - 11, "text-anchor": "middle", class: "figure-quiet" }, `×${tick}`),
      ]),
      // All lines before all names, whose halo keeps them readable where a line passes behind.
      ...this.factors.map(({ value }, at) =>
        makeSvg("line", {
          x1: x.at(value),
          x2: x.at(value),
          y1: LINE,
          y2: rows[at] as number,
          class: "grid-line strong",
        }),
      ),
      ...this.factors.flatMap(({ name, value, strong }, at) =>
        this.factor(x.at(value), rows[at] as number, name, value, strong),
      ),
      makeSvg("path", {
        d: "M0 -10L10 0L0 10L-10 0Z",
        class: "mark-ghost",
        transform: `translate(${x.at(this.guess)} ${LINE})`,
      }),
    );
    this.keepInside("text.halo");
  }

  private factor(x: number, y: number, name: string, value: number, strong: boolean): SVGElement[] {
    const left = x > this.width * 0.55;
    return [
      makeSvg("circle", { cx: x, cy: LINE, r: strong ? 7 : 4.5, fill: strong ? "var(--way-flash)" : "var(--ink)" }),
      makeSvg(
        "text",
        {
          x: x + (left ? -6 : 6),
          y: y + 4,
          "text-anchor": left ? "end" : "start",
          class: strong ? "figure-strong halo" : "figure-label halo",
        },
        `${name} ×${factor(value)}`,
      ),
    ];
  }

  private spoken(): string {
    const answers = this.factors.map(({ name, value }) => `${name} ${digits(value, 3)} times`).join(", ");
    return `Your guess, ${digits(this.guess, 3)} times, beside the answers: ${answers}.`;
  }
}
