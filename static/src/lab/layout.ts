/* The rooms of the laboratory below its controls: made once, filled by the parts that own them. */
import { make } from "../ui/dom";
import { subscripted } from "./words";

export interface Rooms {
  shown: HTMLElement;
  readouts: HTMLElement;
  question: HTMLElement;
  panel: HTMLElement;
  panelNote: HTMLElement;
  panelTable: HTMLDetailsElement;
  measuredTable: HTMLDetailsElement;
  bars: HTMLElement;
  passStrips: HTMLElement;
  passes: HTMLElement;
  tensors: HTMLDetailsElement;
  holds: HTMLElement;
  verdict: HTMLElement;
  roofline: HTMLElement;
  gpus: HTMLElement;
  grid: HTMLElement;
  gridCaption: HTMLElement;
  compare: HTMLElement;
  broken: HTMLElement;
  share: HTMLElement;
  table: HTMLDetailsElement;
  records: HTMLDetailsElement;
}

const SYMBOLS =
  "N tokens · d head dimension · B_r, B_c rows of a block · e bytes of an element · h, h_kv heads × batch · " +
  "Z bytes of L2 · C operations · M bytes · F operations a second · W bytes a second";

export function rooms(host: HTMLElement): Rooms {
  const room = (name: string, attributes: Record<string, string> = {}): HTMLDivElement =>
    make("div", { class: name, ...attributes });
  const made: Rooms = {
    shown: make("p", { class: "lab-shown", id: "lab-shown" }),
    readouts: room("readouts", { id: "readouts" }),
    question: room("lab-question"),
    panel: room("figure"),
    panelNote: make("p", { class: "figure-note", id: "lab-measured" }),
    panelTable: make("details", {}, make("summary", {}, "The curves as a table")),
    measuredTable: make("details", { id: "lab-measured-table" }),
    bars: room("figure"),
    passStrips: room("figure", { id: "lab-pass-strips" }),
    passes: make("p", { class: "figure-note", id: "lab-passes" }),
    tensors: make("details", { id: "lab-tensors" }),
    holds: room("figure"),
    verdict: make("p", { class: "verdict", id: "lab-verdict" }),
    roofline: room("figure"),
    gpus: room("gpus"),
    grid: room("figure grid-figure", { id: "lab-grid" }),
    gridCaption: make("p", { class: "figure-note", id: "lab-grid-caption" }),
    compare: room("compare"),
    broken: room("break-it"),
    share: room("share"),
    table: make("details", { class: "all-counts", id: "lab-table" }),
    records: make("details", { class: "all-counts", id: "lab-records" }),
  };
  const part = (title: string, note: string, ...content: Node[]): HTMLElement =>
    make(
      "section",
      { class: "lab-part" },
      make("h3", {}, title),
      ...(note ? [make("p", { class: "figure-note" }, note)] : []),
      ...content,
    );
  host.replaceChildren(
    made.shown,
    made.readouts,
    make("p", { class: "symbols" }, ...subscripted(SYMBOLS)),
    made.question,
    part(
      "Needed, moved, computed",
      "Three quantities that are easily confused, over all lengths. Drag on the chart, or use its arrow keys.",
      made.panel,
      made.panelNote,
      made.measuredTable,
      made.panelTable,
    ),
    part(
      "Two lines, matrix by matrix",
      "What crosses from HBM onto the chip, and what crosses from the L2 into the SMs, on one scale. An SM reads K and V again and again; HBM hardly notices, while the L2 holds them.",
      made.bars,
      made.tensors,
    ),
    part(
      "Passes over K and V",
      "How often all of K and V crosses from the L2 into the SMs: one pair of colours is one pass from the first row to the last.",
      made.passStrips,
      made.passes,
    ),
    make(
      "div",
      { class: "lab-pair" },
      part(
        "What one block holds",
        "One block each of Q, K and V in shared memory; scores, output and row statistics in registers.",
        made.holds,
        made.verdict,
      ),
      part("The score blocks", "", made.grid, made.gridCaption),
    ),
    part(
      "What binds",
      "The roof is the most a GPU can compute at so many operations a byte. Under the slope memory binds, under the flat part arithmetic.",
      made.roofline,
      made.gpus,
    ),
    part("Side by side", "", made.compare),
    part("Break it", "", made.broken),
    part("Take it with you", "", made.share),
    made.table,
    made.records,
  );
  return made;
}
