/* Two settings side by side: one kept, one under the lever. The kept one is in the address like everything else. */
import type { LabSweepAnswer } from "../api/schema.gen";
import { sameSetting, settingOf } from "../state/setting";
import type { Store } from "../state/store";
import type { ExhibitState, Setting } from "../state/types";
import { make } from "../ui/dom";
import { decimalBytes, digits, duration, factor, kib, operations } from "../ui/format";
import { Slot } from "../ui/slots";
import { type Answers, at, lengthsOf, type Point } from "./answers";
import { describe, differences } from "./words";

type Row = readonly [string, (point: Point) => number | undefined, (value: number) => string];

const time =
  (way: "standard" | "fa2_lower" | "fa2") =>
  ({ counts, lab }: Point): number | undefined =>
    lab.gpus[counts.shape.gpu ?? "h100_sxm5"]?.[way]?.time_us;

const ROWS: readonly Row[] = [
  ["S alone", ({ counts }) => counts.scores_bytes, decimalBytes],
  ["standard needs", ({ counts }) => counts.models.standard?.needed_bytes, decimalBytes],
  ["FlashAttention needs", ({ counts }) => counts.models.fa2?.needed_bytes, decimalBytes],
  ["standard moves, HBM", ({ counts }) => counts.models.standard?.total_bytes, decimalBytes],
  ["FlashAttention moves, HBM at least", ({ lab }) => lab.bands.fa2?.lower_bytes, decimalBytes],
  ["FlashAttention moves, into the SMs", ({ counts }) => counts.models.fa2?.total_bytes, decimalBytes],
  ["standard ÷ into the SMs", ({ counts }) => counts.standard_over.fa2, (value) => digits(value, 4)],
  ["standard computes", ({ counts }) => counts.flops.standard, operations],
  ["FlashAttention computes", ({ counts }) => counts.flops.fa2, operations],
  ["shared memory of a block", ({ counts }) => counts.block.smem_bytes, kib],
  ["registers of a block", ({ counts }) => counts.block.rmem_bytes, kib],
  ["standard, least time", time("standard"), duration],
  ["FlashAttention, least time", time("fa2_lower"), duration],
];

export class Compare {
  private kept: Setting | null = null;
  private point: Point | null = null;
  private sweep: LabSweepAnswer | null = null;
  private readonly table: HTMLElement;
  private readonly head: [Slot, Slot] = [new Slot(), new Slot()];
  private readonly cells: { row: Row; slots: Slot[]; elements: HTMLElement[] }[];
  private readonly intro = make("p");

  constructor(
    host: HTMLElement,
    private readonly store: Store<ExhibitState>,
    private readonly answers: Answers,
    private readonly stops: readonly number[],
  ) {
    this.cells = ROWS.map((row) => {
      const slots = [new Slot(), new Slot(), new Slot()];
      return { row, slots, elements: slots.map((slot) => make("td", {}, slot.node)) };
    });
    const body = this.cells.map(({ row: [name], elements }) =>
      make("tr", {}, make("th", { scope: "row" }, name), ...elements),
    );
    const heads = [
      make("th", { scope: "col" }, "kept: ", this.head[0].node),
      make("th", { scope: "col" }, "now: ", this.head[1].node),
    ];
    this.table = make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Two settings side by side", id: "lab-compare" },
      make(
        "table",
        {},
        make("thead", {}, make("tr", {}, make("td"), ...heads, make("th", { scope: "col" }, "now ÷ kept"))),
        make("tbody", {}, ...body),
      ),
    );
    const keep = button("Keep this setting", () => store.set({ compare: settingOf(store.get()) }));
    const swap = button("Swap the two", () => {
      const { compare } = store.get();
      if (compare) store.set({ ...compare, compare: settingOf(store.get()) });
    });
    const drop = button("Forget the kept one", () => store.set({ compare: null }));
    host.append(this.intro, make("p", { class: "buttons" }, keep, swap, drop), this.table);
    this.toggle = (on) => {
      this.table.hidden = !on;
      swap.hidden = !on;
      drop.hidden = !on;
    };
  }

  private readonly toggle: (on: boolean) => void;

  /** The kept setting's own answer. */
  private get keptPoint(): Point | null {
    return this.kept && this.sweep ? at(this.sweep, this.kept.seqlen) : null;
  }

  async show(state: Readonly<ExhibitState>, point: Point): Promise<void> {
    this.point = point;
    const { compare } = state;
    this.toggle(compare !== null);
    if (!compare) {
      this.kept = null;
      this.sweep = null;
      this.intro.textContent = "Keep a setting, change something, and read both side by side.";
      return;
    }
    if (!this.kept || !sameSetting(this.kept, compare) || !this.sweep) {
      this.kept = compare;
      this.sweep = null;
      try {
        const sweep = await this.answers.get(compare, lengthsOf(compare.seqlen, this.stops));
        if (!this.kept || !sameSetting(this.kept, compare)) return;
        this.sweep = sweep;
      } catch {
        this.kept = null;
        this.intro.textContent = "The kept setting could not be counted: the server does not answer.";
        return;
      }
    }
    this.fill(compare);
  }

  private fill(kept: Setting): void {
    const before = this.keptPoint;
    const now = this.point;
    if (!before || !now) return;
    const setting = settingOf(this.store.get());
    this.intro.textContent = `Kept: ${describe(kept)}.`;
    this.head[0].set(differences(kept, setting));
    this.head[1].set(differences(setting, kept));
    for (const { row, slots, elements } of this.cells) {
      const values = [row[1](before), row[1](now)];
      values.forEach((value, index) => {
        slots[index]?.set(value === undefined ? "–" : row[2](value));
        const element = elements[index];
        if (element && element.dataset.value !== String(value)) element.dataset.value = String(value);
      });
      const [a, b] = values;
      slots[2]?.set(a && b ? `×\u00a0${factor(b / a)}` : "–");
    }
  }
}

function button(text: string, pressed: () => void): HTMLButtonElement {
  const made = make("button", { type: "button" }, text);
  made.addEventListener("click", pressed);
  return made;
}
