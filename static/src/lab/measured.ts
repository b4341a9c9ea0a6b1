/*
 * What was measured on a real GPU for the setting shown: points for the panel, the note that says where they are from,
 * and the same as a table. Which count a kernel belongs beside is the server's word.
 */
import type { LabSweepAnswer, MeasuredPoint } from "../api/schema.gen";
import type { PanelMark } from "../figures/log-panel";
import type { ExhibitState } from "../state/types";
import { make } from "../ui/dom";
import { decimalBytes, duration, whole } from "../ui/format";
import type { Point } from "./answers";

/** A measurement and the length it was made at. */
export type Seen = MeasuredPoint & { seqlen: number };

const EMPTY =
  "Nothing was measured for this setting, so no points are drawn. All settings that were measured are listed at the end of the laboratory, each with a link that opens it here.";
const H200 = " The stand is an H100: the same die, other memory.";
const BLOCKS = "Every kernel has block sizes of its own.";
const OUTSIDE =
  "A point may lie just outside its band: part of O can still be in the L2 when a kernel ends, and a short run's counters hold a few megabytes that are not the attention's.";
const FA1 =
  "FlashAttention 1 has no band here: where the L2 cannot hold its unfinished O, that goes out to HBM and back again and again.";

const LOOK = {
  standard: { color: "var(--way-standard)", name: "measured, standard, HBM" },
  fa1: { color: "var(--quiet)", name: "measured, FlashAttention 1, HBM" },
  fa2: { color: "var(--way-flash)", name: "measured, Flash, HBM" },
} as const;
const INTO_SMS = "measured, Flash, L2 ↔ SMs";

export function seenIn(sweep: LabSweepAnswer): Seen[] {
  return sweep.points.flatMap(({ shape, measured }) =>
    measured.map((point) => ({ ...point, seqlen: shape.seqlen ?? 0 })),
  );
}

/** Filled: what HBM saw. Hollow: what crossed between L2 and SMs, for the way whose upper edge that is. */
export function marksOf(seen: readonly Seen[]): PanelMark[] {
  return seen.flatMap((point): PanelMark[] => {
    const { model, hbm_bytes: hbm, l2_sm_bytes: l2 } = point;
    if (hbm === null || model === "least") return [];
    const label = `${point.name}, ${place(point)}`;
    const { color, name } = LOOK[model];
    const marks: PanelMark[] = [
      { kind: "measured", x: point.seqlen, y: hbm, label: `${label}: HBM ${decimalBytes(hbm)}`, key: name, color },
    ];
    if (model === "fa2" && l2 !== null) {
      const said = `${label}: L2 ↔ SMs ${decimalBytes(l2)}`;
      marks.push({ kind: "measured", x: point.seqlen, y: l2, label: said, key: INTO_SMS, color, hollow: true });
    }
    return marks;
  });
}

export function measuredNote(seen: readonly Seen[]): string {
  if (!seen.length) return EMPTY;
  const places = [...new Set(seen.map(place))].join(" and ");
  const stand = places.includes("H200") ? H200 : "";
  if (!seen.some(({ hbm_bytes }) => hbm_bytes !== null))
    return `Measured on an ${places}.${stand} ${BLOCKS} These runs were timed only, so no points are drawn.`;
  const fa1 = seen.some(({ model }) => model === "fa1") ? ` ${FA1}` : "";
  return `Diamonds: hardware counters, ${places}.${stand} ${BLOCKS} ${OUTSIDE}${fa1}`;
}

function place({ gpu, date }: Seen): string {
  return `${gpu}, ${date}`;
}

/**
 * The quickest kernel recorded for a way of computing at this very length, each by the middle one of its runs: the best of
 * several would be the luckiest.
 */
export function quickest({ counts }: Point, model: MeasuredPoint["model"]): MeasuredPoint | undefined {
  const runs = new Map<string, MeasuredPoint[]>();
  for (const seen of [...counts.measured].sort(byTime)) {
    if (seen.model !== model) continue;
    const kernel = `${seen.kernel} ${seen.gpu} ${seen.dtype}`;
    runs.set(kernel, [...(runs.get(kernel) ?? []), seen]);
  }
  return [...runs.values()].flatMap((ordered) => ordered[(ordered.length - 1) >> 1] ?? []).sort(byTime)[0];
}

function byTime(a: MeasuredPoint, b: MeasuredPoint): number {
  return a.time_ms - b.time_ms;
}

/** The measurements as a table, made when somebody opens it. */
export class MeasuredTable {
  private readonly summary = make("summary");
  private readonly body = make("tbody");
  private seen: readonly Seen[] = [];
  private made: readonly Seen[] | null = null;
  private seqlen = 0;

  constructor(private readonly details: HTMLDetailsElement) {
    const heads = ["Kernel", "N", "HBM", "L2\u00a0↔\u00a0SMs", "Time", "Its blocks", "Inputs"];
    details.append(
      this.summary,
      make(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Measured for this setting" },
        make(
          "table",
          {},
          make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))),
          this.body,
        ),
      ),
    );
    details.addEventListener("toggle", () => this.fill());
  }

  show(seen: readonly Seen[], seqlen: number): void {
    if (seen === this.seen && seqlen === this.seqlen) return;
    this.seqlen = seqlen;
    if (seen !== this.seen) {
      this.seen = seen;
      this.details.hidden = !seen.length;
      this.summary.textContent = `${seen.length} measurements of this setting as a table`;
    }
    this.fill();
  }

  private fill(): void {
    if (!this.details.open) return;
    if (this.made !== this.seen) {
      this.made = this.seen;
      this.body.replaceChildren(...this.seen.map(row));
    }
    this.seen.forEach(({ seqlen }, at) => {
      this.body.rows[at]?.classList.toggle("chosen", seqlen === this.seqlen);
    });
  }
}

function row(seen: Seen): HTMLTableRowElement {
  const counted = (value: number | null): string => (value === null ? "–" : decimalBytes(value));
  const { block_m: m, block_n: n } = seen;
  const texts = [
    whole(seen.seqlen),
    counted(seen.hbm_bytes),
    counted(seen.l2_sm_bytes),
    duration(1000 * seen.time_ms),
    m === null || n === null ? "–" : `${m}\u00a0×\u00a0${n}`,
    seen.dtype.toUpperCase(),
  ];
  return make(
    "tr",
    { "data-kernel": seen.kernel },
    make("th", { scope: "row" }, seen.name),
    ...texts.map((text) => make("td", {}, text)),
  );
}

/** The page of measurements, narrowed to what the panel shows. */
export function measurementsOf({ direction, headDim, causal }: Readonly<ExhibitState>): string {
  return `/measurements?direction=${direction}&head_dim=${headDim}&causal=${causal}`;
}
