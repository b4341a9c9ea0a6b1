/* Every count of the current setting as one table: cells made once, texts changed. Each cell carries its exact value. */
import { make } from "../ui/dom";
import { decimalBytes, digits, duration, operations } from "../ui/format";
import { Slot } from "../ui/slots";
import type { Point } from "./answers";

type ModelName = "standard" | "fa1" | "fa2" | "least";

const COLUMNS: readonly { model: ModelName; title: string; line: string }[] = [
  { model: "standard", title: "Standard", line: "HBM" },
  { model: "fa1", title: "FlashAttention 1", line: "L2 → SMs" },
  { model: "fa2", title: "FlashAttention 2", line: "L2 → SMs" },
  { model: "least", title: "Least possible", line: "HBM" },
];

type Value = number | string | null | undefined;
interface Row {
  name: string;
  field: string;
  value: (point: Point, model: ModelName) => Value;
  text: (value: number) => string;
}

const bytes = (
  name: string,
  field: "read_bytes" | "written_bytes" | "total_bytes" | "needed_bytes" | "saved_bytes",
): Row => ({
  name,
  field,
  value: ({ counts }, model) => counts.models[model]?.[field],
  text: decimalBytes,
});

const ROWS: readonly Row[] = [
  bytes("moved: read", "read_bytes"),
  bytes("moved: written", "written_bytes"),
  bytes("moved in all", "total_bytes"),
  {
    name: "HBM at least",
    field: "lower_bytes",
    value: ({ lab }, model) => lab.bands[model]?.lower_bytes,
    text: decimalBytes,
  },
  {
    name: "passes over K and V",
    field: "kv_passes",
    value: ({ counts }, model) => counts.kv_passes?.[model],
    text: (value) => digits(value, 4),
  },
  bytes("memory while it runs", "needed_bytes"),
  bytes("kept for backward", "saved_bytes"),
  { name: "operations", field: "flops", value: ({ counts }, model) => counts.flops[model], text: operations },
  {
    name: "operations a byte",
    field: "intensity",
    value: ({ counts }, model) => counts.arithmetic_intensity[model],
    text: (value) => digits(value, 4),
  },
  {
    name: "least time",
    field: "time_us",
    value: ({ counts }, model) => counts.roofline?.[model]?.time_us,
    text: duration,
  },
  { name: "what binds", field: "bound", value: ({ counts }, model) => counts.roofline?.[model]?.bound, text: String },
];

export class CountsTable {
  private readonly cells: { row: Row; model: ModelName; slot: Slot; cell: HTMLElement }[] = [];
  private point: Point | null = null;

  constructor(private readonly details: HTMLDetailsElement) {
    const head = COLUMNS.map(({ title, line }) => make("th", { scope: "col" }, title, make("small", {}, line)));
    const body = ROWS.map((row) => {
      const cells = COLUMNS.map(({ model }) => {
        const slot = new Slot();
        const cell = make("td", { "data-field": row.field }, slot.node);
        this.cells.push({ row, model, slot, cell });
        return cell;
      });
      return make("tr", {}, make("th", { scope: "row" }, row.name), ...cells);
    });
    const table = make("table", {}, make("thead", {}, make("tr", {}, make("td"), ...head)), make("tbody", {}, ...body));
    const name = "All counts of this setting";
    details.append(
      make("summary", {}, name),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, table),
    );
    details.addEventListener("toggle", () => this.fill());
  }

  show(point: Point): void {
    this.point = point;
    this.fill();
  }

  /** A closed table is not kept up to date; it is filled when it opens. */
  private fill(): void {
    const { point } = this;
    if (!point || !this.details.open) return;
    for (const { row, model, slot, cell } of this.cells) {
      const value = row.value(point, model);
      const said = value === null || value === undefined ? "" : String(value);
      if (cell.dataset.value === said) continue;
      cell.dataset.value = said;
      slot.set(said === "" ? "–" : typeof value === "number" ? row.text(value) : said);
    }
  }
}
