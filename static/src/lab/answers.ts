/*
 * The sweeps the laboratory has: one per setting holds every stop of the lever, so moving it asks nothing. A length that
 * is no stop is asked for together with its double. The last few are kept.
 */
import { ApiError, address, getSweep, type Question } from "../api/client";
import type { LabPoint, LabSweepAnswer, TrafficAnswer } from "../api/schema.gen";
import { LONGEST_SEQLEN, SETTING_NAMES } from "../state/setting";
import type { Setting } from "../state/types";

/** Everything counted for one length. */
export interface Point {
  counts: TrafficAnswer;
  lab: LabPoint;
}

const MOST_KEPT = 12;

/** The question of a setting without its length, as the API takes it. */
export function questionOf(setting: Readonly<Setting>): Question {
  const question: Question = {};
  for (const key of Object.keys(SETTING_NAMES) as (keyof Setting)[]) {
    const value = setting[key];
    if (key !== "seqlen" && value !== null) question[SETTING_NAMES[key]] = value;
  }
  return question;
}

export function at(sweep: LabSweepAnswer, seqlen: number): Point | null {
  const index = sweep.seqlens.indexOf(seqlen);
  const counts = sweep.points[index];
  const lab = sweep.lab[index];
  return counts && lab ? { counts, lab } : null;
}

export class Answers {
  private readonly kept = new Map<string, LabSweepAnswer>();
  private readonly asked = new Map<string, Promise<LabSweepAnswer>>();

  constructor(private readonly stops: readonly number[]) {}

  /** The address that answers for these lengths of a setting. */
  path(setting: Readonly<Setting>, lengths: readonly number[], file = "sweep"): string {
    return address(`/api/traffic/${file}`, this.question(setting, lengths));
  }

  known(setting: Readonly<Setting>, lengths: readonly number[]): LabSweepAnswer | null {
    return this.kept.get(this.path(setting, lengths)) ?? null;
  }

  async get(setting: Readonly<Setting>, lengths: readonly number[], signal?: AbortSignal): Promise<LabSweepAnswer> {
    const path = this.path(setting, lengths);
    const known = this.kept.get(path);
    if (known) return known;
    const asked = this.asked.get(path);
    if (asked)
      return asked.catch((error: unknown) => {
        // Whoever asked first gave the question up; whoever joined still wants the answer.
        if (error instanceof ApiError || signal?.aborted) throw error;
        return this.get(setting, lengths, signal);
      });
    const answer = getSweep(this.question(setting, lengths), signal);
    this.asked.set(path, answer);
    try {
      const sweep = await answer;
      this.kept.set(path, sweep);
      if (this.kept.size > MOST_KEPT) this.kept.delete(this.kept.keys().next().value as string);
      return sweep;
    } finally {
      this.asked.delete(path);
    }
  }

  private question(setting: Readonly<Setting>, lengths: readonly number[]): Question {
    const question = questionOf(setting);
    const also = lengths.filter((length) => !this.stops.includes(length) && length <= LONGEST_SEQLEN);
    if (also.length) question.also = [...new Set(also)].sort((a, b) => a - b).join(",");
    return question;
  }
}

/** The lengths a state shows: its own, and with a question its double. */
export function lengthsOf(seqlen: number, stops: readonly number[]): number[] {
  return stops.includes(seqlen) ? [seqlen] : [seqlen, 2 * seqlen];
}
