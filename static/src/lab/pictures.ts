/* From an answer to what the figures draw: curves, bars, what a block holds, points under the roofs. No formulas. */
import type { LabSweepAnswer } from "../api/schema.gen";
import type { HeldRow } from "../figures/block-holds";
import type { PanelCurve } from "../figures/log-panel";
import type { PassStrip } from "../figures/pass-strips";
import type { RoofPoint } from "../figures/roofline";
import type { Bar, BarColumn, BarPart } from "../figures/traffic-bars";
import { decimalBytes, digits, kib, operations, whole } from "../ui/format";
import type { Point } from "./answers";

export const STANDARD = "var(--way-standard)";
export const FLASH = "var(--way-flash)";

export function curves(sweep: LabSweepAnswer): PanelCurve[] {
  const each = (value: (point: Point) => number | undefined): number[] =>
    sweep.points.map((counts, index) => value({ counts, lab: sweep.lab[index] as Point["lab"] }) ?? 1);
  const line = (label: string, color: string, dash: string, values: number[]): PanelCurve => ({
    kind: "line",
    label,
    color,
    dash,
    low: values,
    high: values,
  });
  const band = (label: string, color: string, model: "standard" | "fa2", edges: [string, string]): PanelCurve => ({
    kind: "band",
    label,
    color,
    edges,
    low: each(({ lab }) => lab.bands[model]?.lower_bytes),
    high: each(({ lab }) => lab.bands[model]?.upper_bytes),
  });
  const computed = (["standard", "fa2"] as const).map((model) => each(({ counts }) => counts.flops[model]));
  const [standard, flash] = computed as [number[], number[]];
  const alike = standard.every((value, index) => value === flash[index]);
  return [
    ...(alike
      ? [line("both compute", "var(--quiet)", "2 4", standard)]
      : [line("standard computes", STANDARD, "2 4", standard), line("Flash computes", FLASH, "2 4", flash)]),
    band("standard moves", STANDARD, "standard", ["L2 spares most", "all over HBM"]),
    band("Flash moves", FLASH, "fa2", ["each byte once", "into the SMs"]),
    line(
      "standard needs",
      STANDARD,
      "7 4",
      each(({ counts }) => counts.models.standard?.needed_bytes),
    ),
    line(
      "Flash needs",
      FLASH,
      "7 4",
      each(({ counts }) => counts.models.fa2?.needed_bytes),
    ),
  ];
}

export function columns({ counts, lab }: Point): BarColumn[] {
  const parts = (
    list: readonly { tensor: string; read_bytes: number; written_bytes: number }[] | undefined,
  ): BarPart[] =>
    (list ?? []).map(({ tensor, read_bytes, written_bytes }) => ({ tensor, bytes: read_bytes + written_bytes }));
  const own = (model: "least" | "standard" | "fa1" | "fa2"): BarPart[] => parts(counts.models[model]?.by_tensor);
  const bar = (name: string, least: "" | "≥ ", pieces: BarPart[]): Bar => ({
    name,
    total: least + decimalBytes(pieces.reduce((sum, { bytes }) => sum + bytes, 0)),
    parts: pieces,
  });
  return [
    {
      title: "HBM ↔ chip",
      bars: [
        bar("Standard", "", own("standard")),
        bar("FlashAttention 1", "≥ ", parts(lab.by_tensor_hbm.fa1)),
        bar("FlashAttention 2", "≥ ", parts(lab.by_tensor_hbm.fa2)),
        bar("Least possible", "", own("least")),
      ],
    },
    {
      title: "L2 ↔ SMs",
      bars: [
        bar("Standard", "", own("standard")),
        bar("FlashAttention 1", "", own("fa1")),
        bar("FlashAttention 2", "", own("fa2")),
        bar("Least possible", "", own("least")),
      ],
    },
  ];
}

export function spokenColumns(shown: readonly BarColumn[]): string {
  return shown
    .map(
      ({ title, bars }) =>
        `${title}: ${bars.map(({ name, total }) => `${name} ${total.replace("≥", "at least")}`).join(", ")}.`,
    )
    .join(" ");
}

const LIMITS = { smem: "for one block", rmem: "on one SM" } as const;

export function held({ counts, lab }: Point): HeldRow[] {
  const { block } = counts;
  const row = (resource: "smem" | "rmem", name: string, needed: number, limit: number): HeldRow => ({
    name,
    limit,
    limitText: `limit ${kib(limit)} ${LIMITS[resource]}`,
    neededText: kib(needed),
    pieces: lab.holds.filter((piece) => piece.resource === resource).map(({ what, bytes }) => ({ what, bytes })),
  });
  return [
    row("smem", "Shared memory", block.smem_bytes, block.smem_limit_bytes),
    row("rmem", "Registers", block.rmem_bytes, block.rmem_limit_bytes),
  ];
}

export function verdict({ counts }: Point): string {
  const { block } = counts;
  if (block.fits) return `It fits: at least ${block.min_warps} warps hold its registers.`;
  const names = { smem: "shared memory", rmem: "registers" } as const;
  return block.violations
    .map(({ resource, over_bytes }) => `It does not fit: ${names[resource]} ${kib(over_bytes)} over the limit.`)
    .join(" ");
}

const WAYS = [
  { way: "standard", model: "standard", name: "standard", color: STANDARD },
  { way: "fa2", model: "fa2", name: "Flash, no help from L2", color: FLASH, hollow: true },
  { way: "fa2_lower", model: "fa2", name: "Flash, each byte once", color: FLASH },
] as const;

/** Where each way stands: its operations over its least time, at its operations per byte. */
export function roofPoints({ counts, lab }: Point): RoofPoint[] {
  const limits = lab.gpus[counts.shape.gpu ?? "h100_sxm5"];
  return WAYS.flatMap(({ way, model, ...look }) => {
    const least = limits?.[way];
    const flops = counts.flops[model];
    if (!least || !flops) return [];
    return [{ ...look, intensity: lab.intensity[way] ?? 1, flopsPerS: flops / (least.time_us / 1e6) }];
  });
}

export function spokenRoofs(points: readonly RoofPoint[]): string {
  if (!points.length) return "No roof for this precision: its peak is not in the hardware table.";
  const said = points.map(
    ({ name, intensity, flopsPerS }) =>
      `${name}: ${digits(intensity, 3)} operations a byte, at most ${digits(flopsPerS / 1e12, 3)} TFLOP/s`,
  );
  return `The roofs of four GPUs, and under the chosen one ${said.join("; ")}.`;
}

/** The answer in one sentence, for those who listen. */
export function spoken({ counts, lab }: Point): string {
  const { standard, fa2 } = counts.models;
  if (!standard || !fa2) return "";
  return (
    `N = ${whole(counts.shape.seqlen ?? 0)}. Standard needs ${decimalBytes(standard.needed_bytes)} and moves ` +
    `${decimalBytes(standard.total_bytes)}; FlashAttention needs ${decimalBytes(fa2.needed_bytes)} and moves at least ` +
    `${decimalBytes(lab.bands.fa2?.lower_bytes ?? 0)}, ${decimalBytes(fa2.total_bytes)} into the SMs. ` +
    `Both compute ${operations(counts.flops.fa2 ?? 0)} or little more. ${counts.block.fits ? "The block fits." : "The block does not fit."}`
  );
}

/** How often each way takes K and V into the SMs; nothing for the backward pass, where the loops run the other way. */
export function strips({ counts: { kv_passes: times } }: Point): PassStrip[] {
  if (!times) return [];
  return [
    { name: "Standard", passes: times.standard ?? 0 },
    { name: "FlashAttention 1", passes: times.fa1 ?? 0 },
    { name: "FlashAttention 2", passes: times.fa2 ?? 0 },
  ];
}

export function passes({ counts }: Point): string {
  const times = counts.kv_passes?.fa2;
  const rows = `${whole(counts.block.blocks_m)} blocks of Q by ${whole(counts.block.blocks_n)} blocks of K and V. `;
  if (times === undefined)
    return `${rows}Backward, the loops run the other way: Q, O and their gradients pass the blocks of K and V.`;
  return `${rows}FlashAttention 2 reads K and V ${times === 1 ? "once" : `${digits(times, 4)} times over`} into the SMs; version 1 and the standard way read them once.`;
}
