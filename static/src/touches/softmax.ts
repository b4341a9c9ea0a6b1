/*
 * Chapter 8: the reader's own row of scores. Bars are dragged, numbers typed; the server runs the online softmax and
 * answers with every step. A question that is overtaken is given up.
 */
import { ApiError, getSoftmax } from "../api/client";
import type { SoftmaxAnswer } from "../api/schema.gen";
import { tableIn } from "../figures/table-data";
import { button, list } from "../ui/controls";
import { make } from "../ui/dom";
import { digits } from "../ui/format";
import type { Touch } from "./context";
import { drawRow, type RowView, scoreAt } from "./softmax-figure";

const FEWEST = 2;
const MOST = 16;
const LIMIT = 99;
const WAIT_MS = 60;
/** Height of the bar of the lowest score on the stand, as a share of the highest one's. */
const LOWEST = 0.12;

const softmax: Touch = (live, host, context) => {
  const table = tableIn(host, ".softmax-table");
  const ours = () => numbers(table.dataset.scores);
  let scores = ours();
  let values = numbers(table.dataset.values);
  let block = Number(table.dataset.block);
  let step = 1;
  let answer: SoftmaxAnswer | null = null;
  let asking: AbortController | null = null;
  let waiting = 0;
  let view: RowView | null = null;

  const place = make("div", { class: "figure-host draggable" });
  const inputs = make("div", { class: "score-inputs" });
  const state = make("dl", { class: "tally-state", "aria-live": "polite" });
  const said = make("p", { class: "touch-said", role: "status" });
  const back = button("◀", () => move(-1), "One block back");
  const forward = button("▶", () => move(1), "Next block");
  const blockSize = list(
    "taken at a time",
    [1, 2, 3, 4, 8].map((size) => ({ value: String(size), text: String(size) })),
    String(block),
    (value) => {
      block = Number(value);
      step = 1;
      ask();
    },
  );
  const more = button("+ score", () => resize(1));
  const less = button("− score", () => resize(-1));
  const reset = button("Our row", () => {
    scores = ours();
    values = numbers(table.dataset.values);
    fillInputs();
    ask();
  });
  live.append(
    make("div", { class: "touch-row" }, blockSize, back, forward, more, less, reset),
    place,
    inputs,
    state,
    said,
  );

  place.addEventListener("pointerdown", (event) => {
    const index = view?.barAt(event.clientX) ?? -1;
    if (index < 0 || index >= scores.length) return;
    place.setPointerCapture(event.pointerId);
    place.dataset.bar = String(index);
    change(index, event.clientY);
  });
  place.addEventListener("pointermove", (event) => {
    if (place.hasPointerCapture(event.pointerId)) change(Number(place.dataset.bar), event.clientY);
  });
  view = drawRow(place, () => ({ scores, values, answer, step }));
  fillInputs();
  ask();

  function change(index: number, clientY: number): void {
    if (!view) return;
    scores[index] = scoreAt(view, clientY);
    const input = inputs.querySelectorAll<HTMLInputElement>('input[data-kind="score"]')[index];
    if (input) input.value = String(scores[index]);
    view.redraw();
    ask();
  }

  function resize(by: 1 | -1): void {
    const length = Math.min(MOST, Math.max(FEWEST, scores.length + by));
    while (scores.length < length) {
      scores.push(0);
      values.push(1);
    }
    scores.length = length;
    values.length = length;
    fillInputs();
    ask();
  }

  function move(by: 1 | -1): void {
    step = Math.min(answer?.steps.length ?? 1, Math.max(1, step + by));
    show();
  }

  function fillInputs(): void {
    const row = (name: string, kind: "score" | "value", list: number[]) => {
      const cells = list.map((number, i) => {
        const input = make("input", {
          type: "number",
          class: "score-input",
          step: "0.5",
          min: String(-LIMIT),
          max: String(LIMIT),
          value: String(number),
          "data-kind": kind,
          "aria-label": `${name} ${i + 1}`,
        });
        input.addEventListener("input", () => {
          const typed = input.valueAsNumber;
          if (!Number.isFinite(typed)) return;
          list[i] = Math.min(LIMIT, Math.max(-LIMIT, typed));
          view?.redraw();
          ask();
        });
        return input;
      });
      return make("div", { class: "score-row" }, make("span", {}, `${name}s`), ...cells);
    };
    inputs.replaceChildren(row("score", "score", scores), row("value", "value", values));
    more.disabled = scores.length >= MOST;
    less.disabled = scores.length <= FEWEST;
  }

  function ask(): void {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => void load(), WAIT_MS);
  }

  async function load(): Promise<void> {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    try {
      const found = await getSoftmax({ scores, values, block }, signal);
      if (signal.aborted) return;
      answer = found;
      step = Math.min(step, found.steps.length);
      show();
    } catch (error) {
      if (!signal.aborted)
        said.textContent = error instanceof ApiError ? error.message : "The steps could not be loaded.";
    }
  }

  function show(): void {
    if (!answer) return;
    const now = answer.steps[step - 1];
    if (!now) return;
    const last = step === answer.steps.length;
    const rows: [string, string, number][] = [
      ["m", digits(now.row_max, 5), now.row_max],
      ["factor", step === 1 ? "–" : digits(now.rescale, 5), now.rescale],
      ["ℓ", digits(now.row_sum, 6), now.row_sum],
      ["partial output", digits(now.acc, 6), now.acc],
    ];
    state.replaceChildren(
      ...rows.map(([name, text, value]) =>
        make("div", {}, make("dt", {}, name), make("dd", { "data-value": String(value) }, text)),
      ),
    );
    back.disabled = step === 1;
    forward.disabled = last;
    const here = `Step ${step} of ${answer.steps.length}, scores ${now.start + 1} to ${now.stop}. `;
    said.textContent = last
      ? `${here}Output ÷ ℓ = ${digits(answer.output, 10)}; the direct softmax gives ${digits(answer.direct_output, 10)}. Largest difference: ${answer.difference === 0 ? "none" : answer.difference.toExponential(1)}.`
      : `${here}${now.rescale < 1 && step > 1 ? "The maximum rose: what was gathered is multiplied by the factor." : "The maximum stands."}`;
    view?.redraw();
    standRow(now);
  }

  /** The same row on the stand, over the die. */
  function standRow({ start, stop, row_max }: SoftmaxAnswer["steps"][number]): void {
    const [least, most] = [Math.min(...scores), Math.max(...scores)];
    const bars = scores.map((score, i) => ({
      share: most > least ? LOWEST + ((1 - LOWEST) * (score - least)) / (most - least) : 1,
      tint: "s" as const,
      waiting: i >= stop,
    }));
    const notes = [
      { bar: scores.indexOf(row_max), text: `Largest so far:\nm = ${digits(row_max, 4)}` },
      { bar: Math.floor((start + stop - 1) / 2), text: `Scores ${start + 1} to ${stop}\nare being taken` },
    ];
    context.chart(host, { kind: "row", bars, notes: notes.filter(({ bar }) => bar >= 0) });
  }
};

function numbers(text: string | undefined): number[] {
  return (text ?? "").split(",").map(Number);
}

export default softmax;
