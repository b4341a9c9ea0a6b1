/* The log-log panel of the laboratory: curves of the setting, the guess as a ghost, measured points where there are any. */
import type { LabSweepAnswer } from "../api/schema.gen";
import { LogPanel, type PanelMark } from "../figures/log-panel";
import type { ExhibitState } from "../state/types";
import { make } from "../ui/dom";
import { decimalBytes, operations, whole } from "../ui/format";
import { at, type Point } from "./answers";
import type { Rooms } from "./layout";
import { MeasuredTable, marksOf, measuredNote, measurementsOf, type Seen, seenIn } from "./measured";
import { curves } from "./pictures";

export class Panel {
  private readonly figure: LogPanel;
  private drawn = "";
  private sweep: LabSweepAnswer | null = null;
  private tableOf: LabSweepAnswer | null = null;
  private seen: readonly Seen[] = [];
  private readonly measured: MeasuredTable;

  constructor(
    private readonly rooms: Rooms,
    wishes: ConstructorParameters<typeof LogPanel>[1],
  ) {
    this.figure = new LogPanel(rooms.panel, wishes);
    this.measured = new MeasuredTable(rooms.measuredTable);
    rooms.panelTable.addEventListener("toggle", () => this.table());
  }

  show(state: Readonly<ExhibitState>, sweep: LabSweepAnswer, point: Point, spoken: string): void {
    const ghosts = this.ghosts(state, sweep);
    const drawn = JSON.stringify(ghosts);
    if (sweep !== this.sweep) {
      this.seen = seenIn(sweep);
      const all = make("a", { href: measurementsOf(state), class: "record" }, "Every measurement");
      this.rooms.panelNote.replaceChildren(measuredNote(this.seen), " ", all);
    }
    if (sweep !== this.sweep || drawn !== this.drawn) {
      this.drawn = drawn;
      this.sweep = sweep;
      this.figure.show({ xs: sweep.seqlens, curves: curves(sweep), marks: [...marksOf(this.seen), ...ghosts] });
      this.table();
    }
    this.measured.show(this.seen, state.seqlen);
    this.figure.move(sweep.seqlens.indexOf(point.counts.shape.seqlen ?? 0), spoken);
  }

  /** Where the reader said FlashAttention's bytes into the SMs would be. */
  private ghosts(state: Readonly<ExhibitState>, sweep: LabSweepAnswer): PanelMark[] {
    const { ask, guessN, guessD } = state;
    if (ask === "n" && guessN) {
      const from = at(sweep, guessN.at)?.lab.bands.fa2?.upper_bytes;
      const inside = 2 * guessN.at <= (sweep.seqlens.at(-1) ?? 0);
      return from && inside ? [{ kind: "ghost", x: 2 * guessN.at, y: guessN.value * from, label: "your guess" }] : [];
    }
    if (ask === "d" && guessD && state.headDim === 128) {
      const standard = at(sweep, guessD.at)?.lab.bands.standard?.upper_bytes;
      return standard ? [{ kind: "ghost", x: guessD.at, y: standard / guessD.value, label: "your guess" }] : [];
    }
    return [];
  }

  /** Made when somebody opens it. */
  private table(): void {
    const { sweep } = this;
    if (!sweep || sweep === this.tableOf || !this.rooms.panelTable.open) return;
    this.tableOf = sweep;
    const heads = [
      "N",
      "standard needs",
      "Flash needs",
      "standard moves",
      "Flash moves, each byte once",
      "Flash moves, into SMs",
      "Flash computes",
    ];
    const rows = sweep.points.map((counts, index) => {
      const bands = sweep.lab[index]?.bands;
      const texts = [
        decimalBytes(counts.models.standard?.needed_bytes ?? 0),
        decimalBytes(counts.models.fa2?.needed_bytes ?? 0),
        decimalBytes(bands?.standard?.upper_bytes ?? 0),
        decimalBytes(bands?.fa2?.lower_bytes ?? 0),
        decimalBytes(bands?.fa2?.upper_bytes ?? 0),
        operations(counts.flops.fa2 ?? 0),
      ];
      return make(
        "tr",
        {},
        make("th", { scope: "row" }, whole(sweep.seqlens[index] ?? 0)),
        ...texts.map((text) => make("td", {}, text)),
      );
    });
    const table = make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "The curves as a table" },
      make(
        "table",
        {},
        make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))),
        make("tbody", {}, ...rows),
      ),
    );
    this.rooms.panelTable.querySelector("div")?.remove();
    this.rooms.panelTable.append(table);
  }
}
