/* Four GPUs: least time, what binds, and whether the block fits. Cells made once. */
import type { GpuLimits } from "../api/schema.gen";
import { make } from "../ui/dom";
import { duration } from "../ui/format";
import { Slot } from "../ui/slots";
import type { Point } from "./answers";

const WAYS = [
  { way: "standard", name: "standard" },
  { way: "fa2_lower", name: "Flash, each byte once" },
  { way: "fa2", name: "Flash, no help from L2" },
] as const;

export class GpuTable {
  private readonly rows: { id: string; row: HTMLElement; slots: Slot[] }[];

  constructor(host: HTMLElement, gpus: readonly { id: string; name: string }[]) {
    this.rows = gpus.map(({ id, name }) => {
      const slots = [...WAYS, null].map(() => new Slot());
      const cells = slots.map((slot) => make("td", {}, slot.node));
      return { id, slots, row: make("tr", { "data-gpu": id }, make("th", { scope: "row" }, name), ...cells) };
    });
    const heads = [...WAYS.map(({ name }) => name), "the block"].map((name) => make("th", { scope: "col" }, name));
    host.append(
      make(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Least time on four GPUs" },
        make(
          "table",
          {},
          make("thead", {}, make("tr", {}, make("td"), ...heads)),
          make("tbody", {}, ...this.rows.map(({ row }) => row)),
        ),
      ),
    );
  }

  show({ counts, lab }: Point): void {
    for (const { id, row, slots } of this.rows) {
      const limits = lab.gpus[id];
      row.classList.toggle("chosen", id === counts.shape.gpu);
      WAYS.forEach(({ way }, index) => {
        slots[index]?.set(said(limits?.[way]));
      });
      slots.at(-1)?.set(limits?.fits ? "fits" : "does not fit");
    }
  }
}

function said(least: GpuLimits["standard"] | undefined): string {
  if (!least) return "–";
  return `${duration(least.time_us)}, ${least.bound === "compute" ? "arithmetic" : "memory"} binds`;
}
