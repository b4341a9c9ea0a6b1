/* "Break it": leave one thing out and see the wrong numbers beside the right ones, as the server computed them. */
import { getBroken } from "../api/client";
import type { BrokenAnswer, BrokenCase } from "../api/schema.gen";
import type { Store } from "../state/store";
import type { Broken, ExhibitState } from "../state/types";
import { make, makeSvg } from "../ui/dom";
import { decimalBytes, digits } from "../ui/format";
import type { Point } from "./answers";

const SWITCHES: readonly { kind: Broken | null; name: string; what: string }[] = [
  { kind: null, name: "Nothing broken", what: "" },
  {
    kind: "no_rescale",
    name: "Forget to rescale",
    what: "The running maximum rises, but what was summed before is not multiplied by the correction factor.",
  },
  {
    kind: "no_running_max",
    name: "No running maximum",
    what: "exp(score) without subtracting a maximum. Small scores forgive it, which is why it is tempting; large ones overflow.",
  },
  {
    kind: "keep_s",
    name: "Keep S in memory",
    what: "The result is right. What breaks is the point of it all: S and P go out and come back.",
  },
];
const CASES: Record<BrokenCase["name"], string> = {
  ordinary: "Ordinary scores",
  one_block: "One block holds the whole row",
  large_scores: "Large scores",
};

export class BreakIt {
  private readonly result = make("div", { class: "broken", role: "status" });
  private readonly inputs: HTMLInputElement[] = [];
  private kind: Broken | null = null;
  private answer: BrokenAnswer | null = null;
  private readonly cost = make("p");

  constructor(host: HTMLElement, store: Store<ExhibitState>) {
    const labels = SWITCHES.map(({ kind, name }) => {
      const input = make("input", { type: "radio", name: "broken", value: kind ?? "" });
      input.addEventListener("change", () => store.set({ broken: kind }));
      this.inputs.push(input);
      return make("label", {}, input, name);
    });
    host.append(
      make(
        "fieldset",
        { class: "switch" },
        make("legend", { class: "visually-hidden" }, "Leave one thing out"),
        ...labels,
      ),
    );
    host.append(this.result);
  }

  async show(state: Readonly<ExhibitState>, point: Point): Promise<void> {
    const { broken } = state;
    for (const input of this.inputs) input.checked = input.value === (broken ?? "");
    if (broken === "keep_s") this.price(point);
    if (broken === this.kind && (broken === null || this.answer)) return;
    this.kind = broken;
    this.answer = null;
    if (!broken) {
      this.result.replaceChildren();
      return;
    }
    try {
      const answer = await getBroken(broken);
      if (this.kind !== broken) return;
      this.answer = answer;
      const what = SWITCHES.find(({ kind }) => kind === broken)?.what ?? "";
      this.result.replaceChildren(
        make("p", {}, what),
        ...(broken === "keep_s" ? [this.cost] : []),
        ...answer.cases.map((shown) => oneCase(answer, shown)),
      );
    } catch {
      this.result.textContent = "The server did not answer; choose the switch again to retry.";
      this.kind = null;
    }
  }

  private price({ counts, lab }: Point): void {
    const [standard, flash] = [counts.models.standard, counts.models.fa2];
    if (!standard || !flash) return;
    const text =
      `At the current setting: memory ${decimalBytes(standard.needed_bytes)} instead of ${decimalBytes(flash.needed_bytes)}, ` +
      `and up to ${decimalBytes(standard.total_bytes)} over HBM where ${decimalBytes(lab.bands.fa2?.lower_bytes ?? 0)} would do.`;
    if (this.cost.textContent !== text) this.cost.textContent = text;
  }
}

function oneCase(answer: BrokenAnswer, shown: BrokenCase): HTMLElement {
  const good = shown.nan_rows === 0 && (shown.max_error ?? 1) < 1e-9;
  const numbers = (list: readonly (number | null)[]): string =>
    list.map((value) => (value === null ? "NaN" : digits(value, 4))).join("  ");
  const verdict = good
    ? "Right to the last digits."
    : shown.nan_rows
      ? `${shown.nan_rows} of ${answer.seqlen} rows are not numbers.`
      : `Wrong: off by up to ${digits(shown.max_error ?? 0, 3)}, on numbers of this size.`;
  const moved =
    answer.kind === "keep_s"
      ? ` It moved ${decimalBytes(shown.moved_bytes)}, FlashAttention ${decimalBytes(shown.moved_bytes_right)} on the same input.`
      : "";
  return make(
    "figure",
    { class: good ? "broken-case" : "broken-case bad", "data-case": shown.name, "data-good": String(good) },
    make(
      "figcaption",
      {},
      make("b", {}, CASES[shown.name]),
      ` (up to ${digits(shown.largest_score, 3)}): ${verdict}${moved}`,
    ),
    errorStrip(shown),
    make(
      "pre",
      { tabindex: "0" },
      `row ${shown.row + 1}   right  ${numbers(shown.right)}\n        shown  ${numbers(shown.wrong)}`,
    ),
  );
}

/** One bar a row of O: as tall as its error, full and hatched where the row is not a number. */
function errorStrip({ row_errors }: BrokenCase): SVGSVGElement {
  const svg = makeSvg("svg", {
    viewBox: `0 0 ${row_errors.length * 8} 44`,
    class: "error-strip",
    preserveAspectRatio: "none",
    role: "img",
  });
  svg.append(makeSvg("title", {}, "Error of every row of the output, one bar a row"));
  const most = Math.max(1e-9, ...row_errors.map((error) => error ?? 0));
  row_errors.forEach((error, at) => {
    const height = error === null ? 40 : Math.max(1, (40 * error) / most);
    svg.append(
      makeSvg("rect", {
        x: at * 8 + 1,
        y: 42 - height,
        width: 6,
        height,
        fill: error === null ? "var(--ink)" : "var(--s)",
      }),
    );
  });
  return svg;
}
