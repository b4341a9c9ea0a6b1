/* Asks the server for counts. Answers are kept per address, and a question that is overtaken is given up. */
import type {
  BrokenAnswer,
  ExactnessAnswer,
  FactAnswer,
  LabSweepAnswer,
  Problem,
  RooflineAnswer,
  ScheduleAnswer,
  SoftmaxAnswer,
  TimingsAnswer,
  TrafficAnswer,
} from "./schema.gen";

type Value = string | number | boolean;

/** The server refused or could not be reached; the message can be shown to the reader. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number | null,
  ) {
    super(message);
  }
}

const MOST_KEPT = 60;
const kept = new Map<string, Promise<unknown>>();

async function ask<T>(path: string, signal?: AbortSignal): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { headers: { accept: "application/json" }, ...(signal ? { signal } : {}) });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ApiError("The server does not answer.", null);
  }
  if (response.ok) return (await response.json()) as T;
  const problem = (await response.json().catch(() => null)) as Problem | null;
  throw new ApiError(problem?.detail ?? `The server answered ${response.status}.`, response.status);
}

function cached<T>(path: string, signal?: AbortSignal): Promise<T> {
  const known = kept.get(path);
  if (known)
    return (known as Promise<T>).catch((error: unknown) => {
      // Whoever asked first gave the question up; whoever joined still wants the answer.
      if (error instanceof ApiError || signal?.aborted) throw error;
      return cached<T>(path, signal);
    });
  const answer = ask<T>(path, signal);
  kept.set(path, answer);
  answer.catch(() => kept.delete(path));
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value as string);
  return answer;
}

export function address(path: string, query: Question): string {
  const pairs = Object.entries(query).map(([name, value]) => [name, String(value)] as [string, string]);
  return `${path}?${new URLSearchParams(pairs)}`;
}

/** The names and values of a question, as the API takes them. */
export type Question = Record<string, Value>;

/** Not kept here: the laboratory keeps the few sweeps it needs. */
export function getSweep(question: Question, signal?: AbortSignal): Promise<LabSweepAnswer> {
  return ask(address("/api/traffic/sweep", question), signal);
}

/** One setting of one head, as the touches of the chapters ask. */
export interface Setting {
  head_dim: number;
  block_m: number;
  block_n: number;
  causal: boolean;
  gpu: string;
}

export function getTraffic(
  setting: Setting & { seqlen: number; direction?: "forward" | "backward" },
  signal?: AbortSignal,
): Promise<TrafficAnswer> {
  return cached(address("/api/traffic", { ...setting }), signal);
}

export function getBroken(kind: string): Promise<BrokenAnswer> {
  return cached(address("/api/broken", { kind }));
}

export function getTimings(): Promise<TimingsAnswer> {
  return cached("/api/timings");
}

export function getFact(id: string): Promise<FactAnswer> {
  return cached(`/api/facts/${encodeURIComponent(id)}`);
}

export interface ScheduleQuestion {
  algorithm: string;
  direction?: string;
  seqlen: number;
  head_dim: number;
  causal: boolean;
  blocks_m: number;
  blocks_n: number;
  [more: string]: Value;
}

export function getSchedule(question: ScheduleQuestion, signal?: AbortSignal): Promise<ScheduleAnswer> {
  return cached(address("/api/schedule", { ...question }), signal);
}

/** The roof of a GPU at its stops, or at the intensities asked for. */
export function getRoofline(gpu: string, intensities?: readonly number[]): Promise<RooflineAnswer> {
  return cached(address("/api/roofline", { gpu, ...(intensities ? { intensities: intensities.join(",") } : {}) }));
}

export interface SoftmaxQuestion {
  scores: readonly number[];
  values: readonly number[];
  block: number;
}

export function getSoftmax({ scores, values, block }: SoftmaxQuestion, signal?: AbortSignal): Promise<SoftmaxAnswer> {
  const query = { scores: scores.join(","), values: values.join(","), block };
  return cached(address("/api/online-softmax", query), signal);
}

export interface ExactnessQuestion {
  seed: number;
  seqlen: number;
  head_dim: number;
  outliers: boolean;
}

export function getExactness(question: ExactnessQuestion, signal?: AbortSignal): Promise<ExactnessAnswer> {
  return cached(address("/api/exactness", { ...question }), signal);
}
