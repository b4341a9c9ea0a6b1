/* Matrix by matrix, read and written, over the line each count is about: filled when somebody opens it. */
import type { TensorTraffic } from "../api/schema.gen";
import { TENSORS } from "../figures/traffic-bars";
import { make } from "../ui/dom";
import { decimalBytes } from "../ui/format";
import { Slot } from "../ui/slots";
import type { Point } from "./answers";

const WAYS: readonly { id: string; name: string; line: string; of: (point: Point) => readonly TensorTraffic[] }[] = [
  { id: "standard", name: "Standard", line: "HBM", of: ({ counts }) => counts.models.standard?.by_tensor ?? [] },
  { id: "fa1", name: "FlashAttention 1", line: "L2 ↔ SMs", of: ({ counts }) => counts.models.fa1?.by_tensor ?? [] },
  { id: "fa1_hbm", name: "FlashAttention 1", line: "HBM, at least", of: ({ lab }) => lab.by_tensor_hbm.fa1 ?? [] },
  { id: "fa2", name: "FlashAttention 2", line: "L2 ↔ SMs", of: ({ counts }) => counts.models.fa2?.by_tensor ?? [] },
  { id: "fa2_hbm", name: "FlashAttention 2", line: "HBM, at least", of: ({ lab }) => lab.by_tensor_hbm.fa2 ?? [] },
];
const SIDES = ["read_bytes", "written_bytes"] as const;

export class TensorTable {
  private readonly body = make("tbody");
  private cells = new Map<string, { slot: Slot; cell: HTMLElement }>();
  private made = "";
  private point: Point | null = null;

  constructor(private readonly details: HTMLDetailsElement) {
    const name = "Matrix by matrix, read and written, as a table";
    const ways = WAYS.map(({ name, line }) =>
      make("th", { scope: "colgroup", colspan: "2" }, name, make("small", {}, line)),
    );
    const sides = WAYS.flatMap(() => ["read", "written"].map((text) => make("th", { scope: "col" }, text)));
    const head = make("thead", {}, make("tr", {}, make("td"), ...ways), make("tr", {}, make("td"), ...sides));
    details.append(
      make("summary", {}, name),
      make(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": name },
        make("table", {}, head, this.body),
      ),
    );
    details.addEventListener("toggle", () => this.fill());
  }

  show(point: Point): void {
    this.point = point;
    this.fill();
  }

  private fill(): void {
    const { point } = this;
    if (!point || !this.details.open) return;
    const lists = WAYS.map(({ id, of }) => ({ id, list: of(point) }));
    const known = new Set(lists.flatMap(({ list }) => list.map(({ tensor }) => tensor as string)));
    const tensors = Object.keys(TENSORS).filter((tensor) => known.has(tensor));
    if (tensors.join() !== this.made) this.build(tensors);
    const empty = new Set(this.cells.keys());
    for (const { id, list } of lists)
      for (const traffic of list)
        for (const side of SIDES) {
          const key = `${id}.${traffic.tensor}.${side}`;
          this.write(key, traffic[side]);
          empty.delete(key);
        }
    for (const key of empty) this.write(key, null);
  }

  private build(tensors: readonly string[]): void {
    this.made = tensors.join();
    this.cells = new Map();
    const rows = tensors.map((tensor) => {
      const cells = WAYS.flatMap(({ id }) =>
        SIDES.map((side) => {
          const slot = new Slot();
          const cell = make("td", { "data-key": `${id}.${tensor}.${side}` }, slot.node);
          this.cells.set(`${id}.${tensor}.${side}`, { slot, cell });
          return cell;
        }),
      );
      return make("tr", {}, make("th", { scope: "row" }, named(tensor)), ...cells);
    });
    this.body.replaceChildren(...rows);
  }

  private write(key: string, value: number | null): void {
    const found = this.cells.get(key);
    if (!found) return;
    found.slot.set(value ? decimalBytes(value) : "–");
    const said = String(value ?? 0);
    if (found.cell.dataset.value !== said) found.cell.dataset.value = said;
  }
}

/** Two matrices may share a letter: the running sum of a gradient is told from the gradient. */
function named(tensor: string): string {
  const letter = TENSORS[tensor]?.letter ?? tensor;
  return tensor.endsWith("_acc") ? `${letter}, unfinished` : letter;
}
