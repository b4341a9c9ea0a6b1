/* Asks the server for counts. Answers are kept per address, and a question that is overtaken is given up. */
import type { FactAnswer, Problem, ScheduleAnswer, SweepAnswer, TrafficAnswer } from "./schema.gen";

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
  if (known) return known as Promise<T>;
  const answer = ask<T>(path, signal);
  kept.set(path, answer);
  answer.catch(() => kept.delete(path));
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value as string);
  return answer;
}

function address(path: string, query: Record<string, Value>): string {
  const pairs = Object.entries(query).map(([name, value]) => [name, String(value)] as [string, string]);
  return `${path}?${new URLSearchParams(pairs)}`;
}

export interface Setting {
  head_dim: number;
  block_m: number;
  block_n: number;
  causal: boolean;
  gpu: string;
}

export function getSweep(setting: Setting, signal?: AbortSignal): Promise<SweepAnswer> {
  return cached(address("/api/traffic/sweep", { ...setting }), signal);
}

export function getTraffic(setting: Setting & { seqlen: number }, signal?: AbortSignal): Promise<TrafficAnswer> {
  return cached(address("/api/traffic", { ...setting }), signal);
}

export function getFact(id: string): Promise<FactAnswer> {
  return cached(`/api/facts/${encodeURIComponent(id)}`);
}

export interface ScheduleQuestion {
  algorithm: string;
  direction: string;
  seqlen: number;
  head_dim: number;
  causal: boolean;
  blocks_m: number;
  blocks_n: number;
}

export function getSchedule(question: ScheduleQuestion, signal?: AbortSignal): Promise<ScheduleAnswer> {
  return cached(address("/api/schedule", { ...question }), signal);
}
