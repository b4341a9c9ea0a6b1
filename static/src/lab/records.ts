/* Every measured record with its raw samples, fetched when somebody opens the list. Each row opens its setting here. */
import { getTimings } from "../api/client";
import type { RunAnswer } from "../api/schema.gen";
import { make } from "../ui/dom";
import { decimalBytes, digits, duration, whole } from "../ui/format";

/** A row as the bench writes it; app/facts/records.py says what each field is. */
interface Row {
  kernel: string;
  direction: string;
  dtype: string;
  batch: number;
  num_heads: number;
  seqlen: number;
  head_dim: number;
  causal: boolean;
  l2: string;
  time_ms: { median: number; p10: number; p90: number; samples: number[] } | null;
  tflops_per_s: number | null;
  counters: { moved: Record<string, number | null> } | null;
  status: string;
}

const HEADS = [
  "Kernel",
  "Setting",
  "Median",
  "10 % – 90 %",
  "TFLOP/s",
  "HBM read",
  "HBM written",
  "L2 → SMs",
  "SMs → L2",
  "Samples",
];
const NAME = "All measured records, with raw samples";

export class Records {
  private readonly said = make("p", { role: "status" });
  private state: "new" | "asked" | "there" = "new";

  constructor(
    private readonly details: HTMLDetailsElement,
    private readonly open: (search: string) => void,
  ) {
    details.append(make("summary", {}, NAME), this.said);
    details.addEventListener("toggle", () => {
      if (details.open && this.state === "new") void this.fetch();
    });
  }

  private async fetch(): Promise<void> {
    this.state = "asked";
    this.said.textContent = "Waiting for the server …";
    try {
      const { runs } = await getTimings();
      this.details.append(...runs.flatMap((run) => this.run(run)));
      this.said.textContent = runs.length ? "" : "There are no records.";
      this.state = "there";
    } catch {
      this.said.textContent = "The records could not be loaded; close and open this list to try again.";
      this.state = "new";
    }
  }

  private run({ id, run, timings }: RunAnswer): HTMLElement[] {
    const { gpu, driver, date, versions } = run as Record<string, unknown> & { gpu: { name: string } };
    const libraries = Object.entries(versions as Record<string, string>)
      .map(([name, version]) => `${name} ${version}`)
      .join(", ");
    const about = `${gpu.name}, ${String(date).slice(0, 10)}, driver ${driver}, ${libraries}. ${timings.length} rows of the record ${id}.`;
    const rows = (timings as unknown as Row[]).map((row) => this.row(row));
    const table = make(
      "table",
      {},
      make("thead", {}, make("tr", {}, ...HEADS.map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...rows),
    );
    const region = { class: "scroll tall", tabindex: "0", role: "region", "aria-label": `Record ${id}` };
    return [make("p", { class: "figure-note" }, about), make("div", region, table)];
  }

  private row(row: Row): HTMLElement {
    const { time_ms: time, counters } = row;
    const moved = (name: string): string => {
      const bytes = counters?.moved[name];
      return bytes === null || bytes === undefined ? "–" : decimalBytes(bytes);
    };
    const ms = (value: number): string => duration(1000 * value);
    const cells = time
      ? [ms(time.median), `${ms(time.p10)} – ${ms(time.p90)}`, row.tflops_per_s ? digits(row.tflops_per_s, 4) : "–"]
      : [row.status, "–", "–"];
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, row.kernel),
      make("td", {}, this.link(row)),
      ...cells.map((text) => make("td", {}, text)),
      ...["hbm_read_bytes", "hbm_written_bytes", "l2_to_sm_bytes", "sm_to_l2_bytes"].map((name) =>
        make("td", {}, moved(name)),
      ),
      make("td", {}, time ? samples(time.samples) : "–"),
    );
  }

  /** The setting in words, as a link that opens it in the laboratory. */
  private link(row: Row): HTMLElement {
    const { direction, dtype, batch, num_heads, seqlen, head_dim, causal } = row;
    const query = new URLSearchParams({
      seqlen: String(seqlen),
      head_dim: String(head_dim),
      direction,
      causal: causal ? "1" : "0",
      dtype,
      batch: String(batch),
      num_heads: String(num_heads),
    });
    const words = [
      `N = ${whole(seqlen)}`,
      `d = ${head_dim}`,
      num_heads === 1 ? "one head" : `${num_heads} heads`,
      ...(batch === 1 ? [] : [`batch ${batch}`]),
      direction,
      ...(causal ? ["causal"] : []),
      dtype.toUpperCase(),
    ];
    const link = make("a", { href: `/?${query}#lab`, class: "record" }, words.join(", "));
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.open(`?${query}`);
    });
    return link;
  }
}

/** Milliseconds as recorded, one after another, behind a fold; made when it is opened. */
function samples(list: readonly number[]): HTMLElement {
  const text = make("span", { class: "samples" });
  const fold = make("details", {}, make("summary", {}, `${list.length} samples`), text);
  fold.addEventListener("toggle", () => {
    text.textContent = `${list.join(" ")} ms`;
  });
  return fold;
}
