/*
 * Guess first. Before "double N" and "d from 64 to 128" the reader commits a number; only then is the answer shown, and
 * the gap between both stays. Ratios of two counts are formed here, the counts come from the server.
 */
import type { LabSweepAnswer } from "../api/schema.gen";
import { FactorScale } from "../figures/factor-scale";
import { settingOf } from "../state/setting";
import type { Store } from "../state/store";
import type { ExhibitState, Guess, Question, Setting } from "../state/types";
import { make } from "../ui/dom";
import { decimalBytes, factor, operations, whole } from "../ui/format";
import { type Answers, at, type Point } from "./answers";

interface Line {
  name: string;
  before: number;
  after: number;
  text: (value: number) => string;
  asked?: boolean;
}

const FIRST_DIM = 64;
const SECOND_DIM = 128;
const THIRD_DIM = 256;
const times = (value: number): string => `×\u00a0${factor(value)}`;

export class Questions {
  private readonly host: HTMLElement;
  private shown = "";

  constructor(
    host: HTMLElement,
    private readonly store: Store<ExhibitState>,
    private readonly answers: Answers,
  ) {
    this.host = host;
  }

  async show(state: Readonly<ExhibitState>): Promise<void> {
    const { ask } = state;
    const guess = ask === "n" ? state.guessN : state.guessD;
    const length = guess?.at ?? state.seqlen;
    const base = settingOf({ ...state, seqlen: length });
    const shown = JSON.stringify([ask, guess, base]);
    if (shown === this.shown) return;
    this.shown = shown;
    this.host.hidden = ask === null;
    if (ask === null) {
      this.host.replaceChildren();
      return;
    }
    try {
      const parts = await (ask === "n" ? this.doubled(base, guess) : this.widened(base, guess));
      if (this.shown === shown) this.host.replaceChildren(...parts);
    } catch {
      this.shown = "";
      this.host.replaceChildren(make("p", {}, "The question needs the server, which does not answer now."));
    }
  }

  private async doubled(base: Setting, guess: Guess | null): Promise<Node[]> {
    const [from, to] = [base.seqlen, 2 * base.seqlen];
    const title = make("h3", {}, `Double N: from ${whole(from)} to ${whole(to)}`);
    const question = "How many times as many bytes does FlashAttention then send into the SMs?";
    if (!guess) return [title, ...this.form("n", question, 1, "times as many")];
    const sweep = await this.answers.get(base, [from, to]);
    const [before, after] = [at(sweep, from), at(sweep, to)];
    if (!before || !after) throw new Error("the sweep lacks a length it was asked for");
    const lines: Line[] = [
      line("standard, HBM", before, after, ({ lab }) => lab.bands.standard?.upper_bytes, decimalBytes),
      {
        ...line("FlashAttention, into the SMs", before, after, ({ lab }) => lab.bands.fa2?.upper_bytes, decimalBytes),
        asked: true,
      },
      line("FlashAttention, HBM at least", before, after, ({ lab }) => lab.bands.fa2?.lower_bytes, decimalBytes),
      line(
        "FlashAttention, memory needed",
        before,
        after,
        ({ counts }) => counts.models.fa2?.needed_bytes,
        decimalBytes,
      ),
      line("operations", before, after, ({ counts }) => counts.flops.fa2, operations),
    ];
    const answer = growth(lines[1] as Line);
    return [
      title,
      gap(guess.value, answer, "the bytes into the SMs grow"),
      scale(
        lines.map((shown) => ({
          name: shown.name.replace("FlashAttention", "Flash"),
          value: growth(shown),
          strong: shown.asked === true,
        })),
        guess.value,
      ),
      table(["", `N = ${whole(from)}`, `N = ${whole(to)}`, "grows"], lines),
      make(
        "p",
        { class: "quiet" },
        "What goes into the SMs still grows almost fourfold; what doubles is the memory and, while K and V stay in the L2, the traffic from HBM.",
      ),
      this.again("n", from),
    ];
  }

  private async widened(base: Setting, guess: Guess | null): Promise<Node[]> {
    const title = make("h3", {}, `Head dimension from ${FIRST_DIM} to ${SECOND_DIM}, N = ${whole(base.seqlen)}`);
    const first = await this.point({ ...base, headDim: FIRST_DIM });
    const question =
      `At d = ${FIRST_DIM} the standard way moves ${factor(saving(first))} times what FlashAttention sends into the SMs. ` +
      `What is left of that at d = ${SECOND_DIM}?`;
    if (!guess) return [title, ...this.form("d", question, 0.01, "times")];
    const [second, third] = (await Promise.all(
      [SECOND_DIM, THIRD_DIM].map((headDim) => this.point({ ...base, headDim })),
    )) as [Point, Point];
    const lines: Line[] = [
      {
        name: "standard ÷ FlashAttention into the SMs",
        before: saving(first),
        after: saving(second),
        text: times,
        asked: true,
      },
      { name: "saved a pass", before: saved(first), after: saved(second), text: decimalBytes },
      {
        name: "standard ÷ least possible",
        before: first.counts.standard_over.least ?? 1,
        after: second.counts.standard_over.least ?? 1,
        text: times,
      },
    ];
    return [
      title,
      gap(guess.value, saving(second), "the standard way moves"),
      scale(
        [first, second, third].map((point, index) => ({
          name: `d = ${[FIRST_DIM, SECOND_DIM, THIRD_DIM][index]}`,
          value: saving(point),
          strong: index === 1,
        })),
        guess.value,
      ),
      table(["", `d = ${FIRST_DIM}`, `d = ${SECOND_DIM}`, "becomes"], lines),
      make(
        "p",
        { class: "quiet" },
        `A wider head makes Q, K and V wider and leaves S as it is, so the saving shrinks; at d = ${THIRD_DIM} it is ${times(saving(third))}.`,
      ),
      this.again("d", base.seqlen),
    ];
  }

  private async point(setting: Setting): Promise<Point> {
    const sweep: LabSweepAnswer = await this.answers.get(setting, [setting.seqlen]);
    const found = at(sweep, setting.seqlen);
    if (!found) throw new Error("the sweep lacks the length it was asked for");
    return found;
  }

  private form(kind: Question, question: string, least: number, unit: string): Node[] {
    const input = make("input", {
      type: "number",
      min: String(least),
      max: "1000",
      step: "any",
      required: "",
      id: "guess",
      inputmode: "decimal",
    });
    const form = make(
      "form",
      { class: "guess" },
      make("label", { for: "guess" }, question),
      make("span", { class: "guess-row" }, "×", input, unit),
      make("button", { type: "submit", class: "primary" }, "Commit my guess"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const guess = { value: input.valueAsNumber, at: this.store.get().seqlen };
      const kept = settingOf(this.store.get());
      if (kind === "n") this.store.set({ guessN: guess, compare: kept, seqlen: Math.min(2 * guess.at, 1_048_576) });
      else this.store.set({ guessD: guess, compare: { ...kept, headDim: FIRST_DIM }, headDim: SECOND_DIM });
    });
    return [form, make("p", { class: "quiet" }, "The answer is shown once you have committed.")];
  }

  private again(kind: Question, seqlen: number): HTMLElement {
    const button = make("button", { type: "button" }, "Ask me again");
    button.addEventListener("click", () =>
      this.store.set({ [kind === "n" ? "guessN" : "guessD"]: null, compare: null, seqlen }),
    );
    const close = make("button", { type: "button" }, "Close the question");
    close.addEventListener("click", () => this.store.set({ ask: null }));
    return make("p", { class: "buttons" }, button, close);
  }
}

function line(
  name: string,
  before: Point,
  after: Point,
  of: (point: Point) => number | undefined,
  text: Line["text"],
): Line {
  return { name, before: of(before) ?? 0, after: of(after) ?? 0, text };
}

const growth = ({ before, after }: Line): number => after / before;
const saving = ({ counts }: Point): number => counts.standard_over.fa2 ?? 1;
const saved = ({ counts }: Point): number =>
  (counts.models.standard?.total_bytes ?? 0) - (counts.models.fa2?.total_bytes ?? 0);

function gap(guess: number, answer: number, what: string): HTMLElement {
  const off = guess === answer ? 1 : Math.max(guess / answer, answer / guess);
  const near = off < 1.05;
  return make(
    "p",
    { class: "gap", role: "status", "data-answer": String(answer), "data-guess": String(guess) },
    `You guessed ${times(guess)}; ${what} `,
    make("b", {}, times(answer)),
    near
      ? ". Well guessed."
      : `. Your guess was ${guess < answer ? "too low" : "too high"} by a factor of ${factor(off)}.`,
  );
}

function scale(values: readonly { name: string; value: number; strong: boolean }[], guess: number): HTMLElement {
  const host = make("div", { class: "figure" });
  new FactorScale(host).show(values, guess);
  return host;
}

function table(head: readonly string[], lines: readonly Line[]): HTMLElement {
  const rows = lines.map((line) =>
    make(
      "tr",
      line.asked ? { class: "asked" } : {},
      make("th", { scope: "row" }, line.name),
      make("td", {}, line.text(line.before)),
      make("td", {}, line.text(line.after)),
      make("td", { "data-factor": String(growth(line)) }, times(growth(line))),
    ),
  );
  const heads = head.map((text) => (text ? make("th", { scope: "col" }, text) : make("td")));
  return make(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Before and after" },
    make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)),
  );
}
