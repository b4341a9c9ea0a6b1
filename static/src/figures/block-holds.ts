/* What one block holds on the SM, piece by piece, against its two limits; what is over a limit is hatched. */
import { makeSvg } from "../ui/dom";
import { Sized } from "./sized";
import { TENSORS } from "./traffic-bars";

export interface HeldRow {
  name: string;
  limit: number;
  limitText: string;
  neededText: string;
  pieces: readonly { what: string; bytes: number }[];
}

const TOP = 0;
const ROW = 80;
const BAR = 26;
const HEADROOM = 1.06;

export class BlockHolds extends Sized {
  private rows: readonly HeldRow[] = [];

  constructor(host: HTMLElement) {
    super(host, { class: "block-holds", role: "img" });
  }

  show(rows: readonly HeldRow[], spoken: string): void {
    this.rows = rows;
    this.say(spoken);
    this.layout();
  }

  protected layout(): void {
    if (!this.width || !this.rows.length) return;
    this.frame(TOP + ROW * this.rows.length + 6);
    this.svg.replaceChildren(hatch(), ...this.rows.flatMap((row, at) => this.row(row, TOP + at * ROW)));
    this.keepInside("text.figure-quiet");
  }

  private row(row: HeldRow, y: number): SVGElement[] {
    const needed = row.pieces.reduce((sum, { bytes }) => sum + bytes, 0);
    const scale = this.width / (Math.max(row.limit, needed) * HEADROOM);
    const limit = row.limit * scale;
    const bar = y + 22;
    const drawn: SVGElement[] = [
      makeSvg("text", { x: 0, y: y + 14, class: "figure-label" }, row.name),
      makeSvg("text", { x: this.width, y: y + 14, "text-anchor": "end", class: "figure-strong" }, row.neededText),
      makeSvg("rect", { x: 0, y: bar, width: limit, height: BAR, class: "bar-track" }),
    ];
    let x = 0;
    for (const { what, bytes } of row.pieces) {
      const width = bytes * scale;
      const { color, letter } = TENSORS[what] ?? { color: "var(--stat)", letter: what };
      drawn.push(makeSvg("rect", { x, y: bar, width, height: BAR, fill: color }));
      if (width > 12 * letter.length)
        drawn.push(
          makeSvg("text", { x: x + width / 2, y: bar + 18, "text-anchor": "middle", class: "bar-letter" }, letter),
        );
      x += width;
    }
    // The hatching lies under the letters.
    if (x > limit) {
      const letters = drawn.filter((part) => part.classList.contains("bar-letter"));
      drawn.push(makeSvg("rect", { x: limit, y: bar, width: x - limit, height: BAR, fill: "url(#over)" }), ...letters);
    }
    // To the side of the limit that has more room.
    const right = limit > this.width / 2;
    drawn.push(
      makeSvg("line", {
        x1: limit,
        x2: limit,
        y1: bar - 5,
        y2: bar + BAR + 5,
        stroke: "var(--ink)",
        "stroke-width": 2.5,
      }),
      makeSvg(
        "text",
        {
          x: limit + (right ? -6 : 6),
          y: bar + BAR + 13,
          "text-anchor": right ? "end" : "start",
          class: "figure-quiet",
        },
        row.limitText,
      ),
    );
    return drawn;
  }
}

function hatch(): SVGElement {
  const pattern = makeSvg("pattern", {
    id: "over",
    width: 8,
    height: 8,
    patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)",
  });
  pattern.append(
    makeSvg("rect", { width: 8, height: 8, fill: "var(--raised)", "fill-opacity": 0.25 }),
    makeSvg("rect", { width: 4, height: 8, fill: "var(--ink)", "fill-opacity": 0.75 }),
  );
  return makeSvg("defs", {}, pattern);
}
