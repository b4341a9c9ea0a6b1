/*
 * Values of the text set up on the package: a row of bars over the die, two columns beside it, or a timeline on a board
 * over the die. Fetched when it is first asked for. Knows what it is told, and no number of its own.
 */
import { Group } from "three";
import { Damper } from "../math/damper";
import type { Box } from "../math/view";
import type { CalloutAnchor } from "./anchors";
import { type BarsPlace, ChartBars } from "./chart-bars";
import { DiagramBoard } from "./diagram-board";
import type { Cell } from "./diagram-layout";
import type { PackageModel } from "./package";
import type { Room } from "./themes";
import type { Chart } from "./types";

type Timeline = Extract<Chart, { kind: "timeline" }>;

/** Height of the tallest bar in mm: over the die, and beside the package. */
const ROW_HEIGHT = 11;
const COLUMN_HEIGHT = 34;
const COLUMN_WIDTH = 8;
/** Gap between the board's edge and the columns. */
const ASIDE = 9;
/** The timeline's board in mm, how high it floats over the die and how far it leans towards the reader. */
const BOARD = { width: 40, head: 7, row: 4.6, foot: 3 } as const;
const LIFT = 4;
const LEAN = 0.66;
const RISE_MS = 600;

export class ChartView {
  readonly group = new Group();
  private readonly bars = new ChartBars();
  private readonly rise = new Damper(0, RISE_MS);
  private board: DiagramBoard | null = null;
  private drawn: Timeline | null = null;
  private chart: Chart | null = null;
  private room: Room | null = null;

  constructor(private readonly model: PackageModel) {
    this.group.add(this.bars.mesh);
  }

  set(chart: Chart | null, cut: boolean): void {
    this.chart = chart;
    this.bars.set(chart && chart.kind !== "timeline" ? chart.bars : [], cut);
    if (chart?.kind === "timeline" && chart !== this.drawn) this.draw(chart);
    this.rise.goal = chart?.kind === "timeline" ? 1 : 0;
    if (cut) this.rise.finish();
  }

  get shown(): boolean {
    return this.chart !== null || this.rise.goal > 0 || !this.rise.resting || this.bars.mesh.visible;
  }

  setRoom(room: Room): void {
    this.room = room;
    this.board?.setRoom(room);
  }

  /** Moves on and places everything; `dieTop`: height of the die's top in the world. True while something moves. */
  update(deltaMs: number, dieTop: number): boolean {
    const growing = this.bars.update(deltaMs, this.place(dieTop));
    const rise = this.rise.update(deltaMs);
    if (this.board) {
      const { depth } = this.board;
      this.board.opacity = Math.min(1, rise * 1.5);
      this.board.group.rotation.x = LEAN * rise;
      this.board.group.position.set(0, dieTop + 0.6 + (LIFT + (depth / 2) * Math.sin(LEAN)) * rise, 0);
      this.board.group.updateMatrixWorld(true);
    }
    return growing || !this.rise.resting;
  }

  /** What the camera keeps in view. */
  boxes(dieTop: number): Box[] {
    if (!this.chart) return [];
    if (this.chart.kind !== "timeline") return [this.bars.box(this.place(dieTop))];
    const depth = this.board?.depth ?? 0;
    const [up, flat] = [(depth / 2) * Math.sin(LEAN), (depth / 2) * Math.cos(LEAN)];
    const middle = dieTop + LIFT + up;
    return [{ min: [-BOARD.width / 2 - 1, middle - up, -flat], max: [BOARD.width / 2 + 1, middle + up + 1, flat] }];
  }

  anchors(dieTop: number): CalloutAnchor[] {
    const { chart } = this;
    if (!chart || chart.kind === "timeline") return [];
    const place = this.place(dieTop);
    return chart.notes.map(({ bar, text }, i) => ({
      id: `chart_${i}`,
      title: text,
      rank: -30 + i,
      at: this.bars.top(bar, place),
    }));
  }

  dispose(): void {
    this.bars.dispose();
    this.board?.dispose();
  }

  private place(dieTop: number): BarsPlace {
    const { gpu_die: die, substrate, base } = this.model.bounds;
    if (this.chart?.kind === "columns") {
      const x = substrate.max[0] + ASIDE;
      return {
        at: [x, base.max[1], 0],
        span: 2.4 * COLUMN_WIDTH,
        along: "z",
        width: COLUMN_WIDTH,
        height: COLUMN_HEIGHT,
      };
    }
    const many = this.chart?.kind === "row" ? this.chart.bars.length : 1;
    const pitch = (die.max[0] - die.min[0]) / Math.max(4, many);
    return {
      at: [(die.min[0] + die.max[0]) / 2, dieTop, (die.min[2] + die.max[2]) / 2],
      span: pitch * (many - 1),
      along: "x",
      width: Math.min(3.2, pitch * 0.72),
      height: ROW_HEIGHT,
    };
  }

  private draw(chart: Timeline): void {
    this.drawn = chart;
    if (this.board) {
      this.group.remove(this.board.group);
      this.board.dispose();
    }
    const depth = BOARD.head + BOARD.row * chart.rows.length + BOARD.foot;
    const { cells, texts, rows } = laidOut(chart, depth);
    this.board = new DiagramBoard(cells, BOARD.width, depth, (context) => {
      const write = (text: string, x: number, z: number, mm: number, weight: number) => {
        context.font = `${weight} ${mm}px 'Liberation Sans', Arial, Helvetica, sans-serif`;
        context.fillText(text, x, z);
      };
      write("One SM over time", 0, -depth / 2 + 2.2, 1.9, 700);
      write("time →  not to scale", 0, depth / 2 - BOARD.foot / 2, 1.2, 500);
      context.textAlign = "left";
      for (const { text, x, z } of rows) write(text, x, z, 1.15, 600);
      context.textAlign = "center";
      for (const { text, x, z } of texts) write(text, x, z, 1.25, 700);
    });
    this.board.look(() => ({ lit: 0, marked: 0, faded: 0 }));
    if (this.room) this.board.setRoom(this.room);
    this.group.add(this.board.group);
  }
}

interface Text {
  text: string;
  x: number;
  z: number;
}

/** Where the spans of a timeline lie on its board, with their writing and the names of the rows above them. */
export function laidOut(chart: Timeline, depth: number): { cells: Cell[]; texts: Text[]; rows: Text[] } {
  const end = Math.max(1, ...chart.spans.map(({ stop }) => stop));
  const left = -BOARD.width / 2 + 1;
  const unit = (BOARD.width - 2) / end;
  const top = -depth / 2 + BOARD.head - 2;
  const tall = BOARD.row - 2.1;
  const middle = (row: number) => top + row * BOARD.row + 1.7 + tall / 2;
  const cells = chart.spans.map(({ row, start, stop, work }, index) => ({
    kind: work,
    index,
    x: left + ((start + stop) / 2) * unit,
    z: middle(row),
    w: (stop - start) * unit - 0.15,
    d: tall,
    high: 0.42,
    used: true,
  }));
  return {
    cells,
    texts: chart.spans.map(({ text }, i) => ({ text, x: cells[i]?.x ?? 0, z: cells[i]?.z ?? 0 })),
    rows: chart.rows.map((text, row) => ({ text, x: left, z: top + row * BOARD.row + 0.9 })),
  };
}
