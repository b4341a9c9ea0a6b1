/*
 * The N×N grid of score blocks as an accessible figure: which block is being worked on, which ones lie in HBM, which
 * are gone. It is told the state of each cell and draws only what changed.
 */
import { makeSvg } from "../ui/dom";

export type Cell = "none" | "waiting" | "working" | "scores" | "probs" | "gone";

export interface GridView {
  rows: number;
  columns: number;
  cell(row: number, column: number): Cell;
}

const SIDE = 320;
const MARGIN = 26;

const LOOK: Record<Cell, { fill: string; opacity: number; stroke: string }> = {
  none: { fill: "none", opacity: 1, stroke: "none" },
  waiting: { fill: "none", opacity: 1, stroke: "var(--line)" },
  working: { fill: "var(--s)", opacity: 1, stroke: "var(--ink)" },
  scores: { fill: "var(--s)", opacity: 0.45, stroke: "var(--s)" },
  probs: { fill: "var(--s)", opacity: 0.8, stroke: "var(--s)" },
  gone: { fill: "var(--edge)", opacity: 0.12, stroke: "var(--line)" },
};

export class BlockGrid {
  private readonly title = makeSvg("title");
  private readonly cells: SVGRectElement[] = [];
  private drawn: Cell[] = [];
  private readonly layer = makeSvg("g");
  private rows = 0;
  private columns = 0;

  constructor(host: HTMLElement) {
    const svg = makeSvg("svg", { viewBox: `0 0 ${SIDE + MARGIN} ${SIDE + MARGIN}`, role: "img" }, this.title);
    const text = { fill: "var(--quiet)" };
    svg.append(
      this.layer,
      makeSvg("text", { ...text, x: MARGIN, y: MARGIN - 9 }, "K and V blocks →"),
      makeSvg(
        "text",
        { ...text, x: -MARGIN, y: MARGIN - 9, transform: "rotate(-90)", "text-anchor": "end" },
        "← Q blocks",
      ),
    );
    host.replaceChildren(svg);
  }

  draw(view: GridView, description: string): void {
    if (view.rows !== this.rows || view.columns !== this.columns) this.rebuild(view);
    this.title.textContent = description;
    for (let row = 0; row < view.rows; row++)
      for (let column = 0; column < view.columns; column++) {
        const at = row * view.columns + column;
        const cell = view.cell(row, column);
        if (this.drawn[at] === cell) continue;
        this.drawn[at] = cell;
        const look = LOOK[cell];
        const rect = this.cells[at] as SVGRectElement;
        rect.setAttribute("fill", look.fill);
        rect.setAttribute("fill-opacity", String(look.opacity));
        rect.setAttribute("stroke", look.stroke);
        rect.dataset.cell = cell;
      }
  }

  private rebuild(view: GridView): void {
    this.rows = view.rows;
    this.columns = view.columns;
    this.drawn = [];
    this.cells.length = 0;
    const width = SIDE / view.columns;
    const height = SIDE / view.rows;
    const gap = Math.min(2, width / 8);
    for (let row = 0; row < view.rows; row++)
      for (let column = 0; column < view.columns; column++)
        this.cells.push(
          makeSvg("rect", {
            x: MARGIN + column * width + gap / 2,
            y: MARGIN + row * height + gap / 2,
            width: width - gap,
            height: height - gap,
            rx: Math.min(3, width / 8),
          }),
        );
    this.layer.replaceChildren(...this.cells);
  }
}
