/*
 * The five readouts, needs · moves · computes · fits · time: each a line of figures that unfolds to its formulas with
 * the current numbers in them. The cells are made once; an answer only changes their texts.
 */
import type { FormulaAnswer } from "../api/schema.gen";
import { make } from "../ui/dom";
import { decimalBytes, digits, duration, kib, operations, whole } from "../ui/format";
import { Slot } from "../ui/slots";
import type { Point } from "./answers";
import { quickest } from "./measured";
import { subscripted } from "./words";

type Readout = FormulaAnswer["readout"];
/** Name, exact value, and how it is written. */
type Row = readonly [string, (point: Point) => number | boolean | undefined, (value: number, point: Point) => string];

const NONE = "–";
const NOT_MEASURED = "no record";

const CARDS: readonly { readout: Readout; title: string; what: string; rows: readonly Row[] }[] = [
  {
    readout: "needs",
    title: "Needs",
    what: "memory while it runs",
    rows: [
      ["standard", ({ counts }) => counts.models.standard?.needed_bytes, decimalBytes],
      ["FlashAttention", ({ counts }) => counts.models.fa2?.needed_bytes, decimalBytes],
      ["S alone", ({ counts }) => counts.scores_bytes, decimalBytes],
    ],
  },
  {
    readout: "moves",
    title: "Moves",
    what: "bytes between HBM and chip",
    rows: [
      ["standard", ({ lab }) => lab.bands.standard?.upper_bytes, decimalBytes],
      ["FlashAttention", ({ lab }) => lab.bands.fa2?.lower_bytes, (value) => `≥ ${decimalBytes(value)}`],
      ["into the SMs", ({ lab }) => lab.bands.fa2?.upper_bytes, decimalBytes],
    ],
  },
  {
    readout: "computes",
    title: "Computes",
    what: "multiplies and adds",
    rows: [
      ["standard", ({ counts }) => counts.flops.standard, operations],
      ["FlashAttention", ({ counts }) => counts.flops.fa2, operations],
    ],
  },
  {
    readout: "fits",
    title: "Fits",
    what: "one block on one SM",
    rows: [
      [
        "shared memory",
        ({ counts }) => counts.block.smem_bytes,
        (value, { counts }) => limited(value, counts.block.smem_limit_bytes),
      ],
      [
        "registers",
        ({ counts }) => counts.block.rmem_bytes,
        (value, { counts }) => limited(value, counts.block.rmem_limit_bytes),
      ],
      ["so", ({ counts }) => counts.block.fits, (value) => (value ? "it fits" : "it does not fit")],
    ],
  },
  {
    readout: "time",
    title: "Time",
    what: "least, by the roofline",
    rows: [
      ["standard", (point) => time(point, "standard"), duration],
      ["FlashAttention", (point) => time(point, "fa2_lower"), (value) => `≥ ${duration(value)}`],
      ["no help from L2", (point) => time(point, "fa2"), duration],
      ["standard, measured", (point) => measured(point, "standard"), (us, point) => onItsGpu(us, point, "standard")],
      ["Flash, measured", (point) => measured(point, "fa2"), (us, point) => onItsGpu(us, point, "fa2")],
    ],
  },
];

const NAMES: Record<string, string> = {
  "needs.scores": "S alone",
  "needs.least": "least possible",
  "moves.least": "least possible, HBM",
  "moves.standard": "standard, HBM",
  "moves.fa1": "FlashAttention 1, L2 → SMs",
  "moves.fa2": "FlashAttention 2, L2 → SMs",
  "moves.standard_lower": "standard, HBM, if the L2 (Z bytes) spares all it can",
  "moves.fa1_lower": "FlashAttention 1, HBM at least",
  "moves.fa2_lower": "FlashAttention 2, HBM at least",
  "moves.passes": "passes over K and V, FlashAttention 2",
  "computes.least": "least possible",
  "fits.smem": "shared memory of one block",
  "fits.rmem": "registers of one block",
  "time.standard": "standard, every byte over HBM",
  "time.fa2_lower": "FlashAttention 2, each byte once",
  "time.fa2": "FlashAttention 2, no help from the L2",
};
const MODELS: Record<string, string> = { standard: "standard", fa1: "FlashAttention 1", fa2: "FlashAttention 2" };

function time({ counts, lab }: Point, way: "standard" | "fa2_lower" | "fa2"): number | undefined {
  return lab.gpus[counts.shape.gpu ?? "h100_sxm5"]?.[way]?.time_us;
}

function measured(point: Point, way: "standard" | "fa2"): number | undefined {
  const seen = quickest(point, way);
  return seen && 1000 * seen.time_ms;
}

function onItsGpu(us: number, point: Point, way: "standard" | "fa2"): string {
  return `${duration(us)} on ${quickest(point, way)?.gpu.replace("NVIDIA ", "")}`;
}

function limited(value: number, limit: number): string {
  return `${kib(value)} of ${digits(limit / 1024, 4)}`;
}

interface Card {
  readout: Readout;
  element: HTMLDetailsElement;
  cells: { slot: Slot; row: Row; element: HTMLElement }[];
  formulas: HTMLElement;
  /** What the list of formulas is made for, so that it is filled again only when it changes kind. */
  made: string;
  slots: Slot[][];
}

export class Readouts {
  private point: Point | null = null;
  private readonly cards: Card[];

  constructor(host: HTMLElement) {
    this.cards = CARDS.map(({ readout, title, what, rows }) => {
      const cells = rows.map((row) => {
        const slot = new Slot();
        return { slot, row, element: make("b", {}, slot.node) };
      });
      const figures = cells.map(({ row: [name], element }) =>
        make("span", { class: "figure-row" }, make("span", {}, name), element),
      );
      const formulas = make("dl", { class: "formulas" });
      const summary = make(
        "summary",
        {},
        make("span", { class: "readout-title" }, title, make("small", {}, what)),
        ...figures,
        make("span", { class: "readout-more" }, "formula"),
      );
      const element = make("details", { class: "readout", "data-readout": readout }, summary, formulas);
      const card: Card = { readout, element, cells, formulas, made: "", slots: [] };
      element.addEventListener("toggle", () => this.unfold(card));
      return card;
    });
    host.replaceChildren(...this.cards.map(({ element }) => element));
  }

  show(point: Point): void {
    this.point = point;
    for (const card of this.cards) {
      for (const { slot, row, element } of card.cells) {
        const value = row[1](point);
        const exact = String(value);
        if (element.dataset.value === exact) continue;
        element.dataset.value = exact;
        const none = row[0].endsWith("measured") ? NOT_MEASURED : NONE;
        slot.set(value === undefined ? none : row[2](Number(value), point));
      }
      if (card.element.open) this.unfold(card);
    }
    const fits = this.cards.find(({ readout }) => readout === "fits");
    const verdict = String(point.counts.block.fits);
    if (fits && fits.element.dataset.fits !== verdict) fits.element.dataset.fits = verdict;
  }

  private unfold(card: Card): void {
    if (!card.element.open || !this.point) return;
    const formulas = this.point.lab.formulas.filter(({ readout }) => readout === card.readout);
    const made = formulas.map(({ id, symbolic }) => `${id}=${symbolic}`).join("\n");
    if (made !== card.made) {
      card.made = made;
      card.slots = formulas.map(() => [new Slot(), new Slot()]);
      card.formulas.replaceChildren(...formulas.flatMap((formula, at) => entry(formula, card.slots[at] as Slot[])));
    }
    formulas.forEach((formula, at) => {
      const [substituted, result] = card.slots[at] as [Slot, Slot];
      substituted.set(formula.substituted);
      result.set(written(formula));
      const dd = substituted.node.parentElement?.parentElement;
      if (dd && dd.dataset.value !== String(formula.value)) {
        dd.dataset.value = String(formula.value);
        dd.dataset.expression = formula.expression;
      }
    });
  }
}

function entry(formula: FormulaAnswer, [substituted, result]: Slot[]): HTMLElement[] {
  const name = NAMES[`${formula.readout}.${formula.id}`] ?? MODELS[formula.id] ?? formula.id;
  return [
    make("dt", {}, name),
    make(
      "dd",
      { "data-id": formula.id },
      make("span", { class: "symbolic" }, ...subscripted(formula.symbolic)),
      make("span", { class: "substituted" }, "= ", (substituted as Slot).node),
      make("span", { class: "result" }, "= ", (result as Slot).node),
    ),
  ];
}

function written({ value, unit, readout }: FormulaAnswer): string {
  if (unit === "µs") return `${digits(value, 6)} µs`;
  if (unit === "passes") return digits(value, 6);
  const bytes = readout === "fits" ? kib : decimalBytes;
  const short = (unit === "FLOP" ? operations : bytes)(value);
  return value < 1000 ? `${whole(value)} ${unit}` : `${whole(value)} ${unit} = ${short}`;
}
