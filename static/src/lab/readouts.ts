/* The laboratory's answers as tables: what is needed, moved, computed, what fits, and the least time. Only formatting. */
import type { BlockBudget, ModelTraffic, TrafficAnswer } from "../api/schema.gen";
import { make } from "../ui/dom";
import { decimalBytes, digits, duration, kib, operations, whole } from "../ui/format";

type ModelName = "least" | "standard" | "fa1" | "fa2";

const COLUMNS: readonly { model: ModelName; title: string; line: string }[] = [
  { model: "standard", title: "Standard", line: "HBM" },
  { model: "fa1", title: "FlashAttention 1", line: "L2 → SMs" },
  { model: "fa2", title: "FlashAttention 2", line: "L2 → SMs" },
  { model: "least", title: "Least possible", line: "HBM" },
];

const TENSORS: Record<string, string> = {
  q: "Q",
  k: "K",
  v: "V",
  o: "O",
  s: "S",
  p: "P",
  stats: "m, ℓ",
  lse: "log-sum-exp",
};

/** The readouts for one answer. Every number carries its exact value in `data-value`. */
export function readouts(answer: TrafficAnswer): Node[] {
  const { models, block } = answer;
  return [
    make(
      "p",
      { class: "verdict" },
      `S alone is ${decimalBytes(answer.scores_bytes)}. `,
      `Standard moves ${digits(answer.standard_over.fa2 ?? 0, 3)} times what FlashAttention 2 sends into the SMs, `,
      `and ${digits(answer.standard_over.least ?? 0, 3)} times the least HBM must give.`,
    ),
    table("Moves", answer, [
      ["read", (name) => bytes(models[name], "read_bytes")],
      ["written", (name) => bytes(models[name], "written_bytes")],
      ["in all", (name) => bytes(models[name], "total_bytes")],
      ["passes over K and V", (name) => value(answer.kv_passes?.[name], (n) => digits(n, 4), "kv_passes")],
    ]),
    table("Needs, computes, time", answer, [
      ["memory while it runs", (name) => bytes(models[name], "needed_bytes")],
      ["kept for backward", (name) => bytes(models[name], "saved_bytes")],
      ["operations", (name) => value(answer.flops[name], operations, "flops")],
      ["operations a byte", (name) => value(answer.arithmetic_intensity[name], (n) => digits(n, 4), "intensity")],
      ["least time", (name) => value(answer.roofline?.[name]?.time_us, duration, "time_us")],
      ["what binds", (name) => text(answer.roofline?.[name]?.bound)],
    ]),
    byTensor(answer),
    fits(block),
  ];
}

type Row = readonly [string, (model: ModelName) => Node];

function table(title: string, _answer: TrafficAnswer, rows: readonly Row[]): Node {
  const head = COLUMNS.map(({ title: name, line }) => make("th", { scope: "col" }, name, make("small", {}, line)));
  const body = rows.map(([label, cell]) =>
    make("tr", {}, make("th", { scope: "row" }, label), ...COLUMNS.map(({ model }) => cell(model))),
  );
  return make(
    "div",
    {},
    make("h3", {}, title),
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": title },
      make("table", {}, make("thead", {}, make("tr", {}, make("td"), ...head)), make("tbody", {}, ...body)),
    ),
  );
}

function bytes(model: ModelTraffic | undefined, field: keyof ModelTraffic): Node {
  return value(model?.[field] as number | undefined, decimalBytes, field);
}

function value(number: number | undefined, format: (value: number) => string, field: string): Node {
  if (number === undefined) return make("td", {}, "–");
  return make("td", { "data-field": field, "data-value": String(number) }, format(number));
}

function text(words: string | undefined): Node {
  return make("td", {}, words ?? "–");
}

function byTensor(answer: TrafficAnswer): Node {
  const lists = COLUMNS.map(({ model, title, line }) => {
    const parts = (answer.models[model]?.by_tensor ?? []).map((transfer) => {
      const name = TENSORS[transfer.tensor] ?? transfer.tensor;
      return make(
        "li",
        {},
        `${name}: ${decimalBytes(transfer.read_bytes)} read, ${decimalBytes(transfer.written_bytes)} written`,
      );
    });
    return make("div", {}, make("strong", {}, `${title}, ${line}`), make("ul", {}, ...parts));
  });
  return make("details", { class: "by-tensor" }, make("summary", {}, "Matrix by matrix"), ...lists);
}

function fits(block: BlockBudget): Node {
  const verdict = block.fits
    ? `One block fits: at least ${whole(block.min_warps)} warps hold its registers.`
    : block.violations
        .map(({ resource, over_bytes }) => `Does not fit: ${NAMES[resource]} ${kib(over_bytes)} over the limit.`)
        .join(" ");
  return make(
    "div",
    { class: "fits", "data-fits": String(block.fits) },
    make("h3", {}, "Fits"),
    meter("Shared memory", block.smem_bytes, block.smem_limit_bytes),
    meter("Registers", block.rmem_bytes, block.rmem_limit_bytes),
    make("p", { class: "verdict" }, verdict),
  );
}

const NAMES: Record<string, string> = { smem: "shared memory is", rmem: "registers are" };

function meter(name: string, used: number, limit: number): Node {
  const over = used > limit;
  const bar = make("span");
  bar.style.width = `${Math.min(100, (100 * used) / limit)}%`;
  return make(
    "div",
    { class: "meter" },
    make("span", {}, name),
    make("div", { class: over ? "meter-bar over" : "meter-bar", "aria-hidden": "true" }, bar),
    make("span", { class: "meter-text" }, `${kib(used)} of ${kib(limit)}${over ? ", too much" : ""}`),
  );
}
