/* Measured points for the panel: bytes HBM really saw, from recorded hardware counters of the setting shown. */
import type { TrafficAnswer } from "../api/schema.gen";
import type { ExhibitState } from "../state/types";

export interface MeasuredPoint {
  seqlen: number;
  bytes: number;
  /** Kernel, GPU and date, for the reader. */
  label: string;
}

const EMPTY =
  "Measured points appear inside the band where counters were recorded for this setting. There is no record for it yet.";

/** What one recorded measurement must say to become a point; anything else is left out rather than guessed at. */
export function measuredPoints(points: readonly TrafficAnswer[]): MeasuredPoint[] {
  return points.flatMap(({ shape, measured }) =>
    measured.flatMap((record) => {
      const { kernel, gpu, date, hbm_bytes: bytes } = record as Record<string, unknown>;
      if (typeof kernel !== "string" || typeof gpu !== "string" || typeof bytes !== "number") return [];
      const label = `${kernel}, measured on ${gpu}${typeof date === "string" ? `, ${date}` : ""}`;
      return [{ seqlen: shape.seqlen ?? 0, bytes, label }];
    }),
  );
}

export function measuredNote(points: readonly MeasuredPoint[]): string {
  if (!points.length) return EMPTY;
  const labels = [...new Set(points.map(({ label }) => label))].join("; ");
  const other = labels.includes("H200") ? " The stand is an H100; an H200 has the same die and other memory." : "";
  return `${points.length} measured: ${labels}.${other}`;
}

/** The page of measurements, narrowed to what the panel shows. */
export function measurementsOf({ direction, headDim, causal }: Readonly<ExhibitState>): string {
  return `/measurements?direction=${direction}&head_dim=${headDim}&causal=${causal}`;
}
