/* What others may see and do of the tiles' clock: the panel under the stand holds it, touches drive it. */
import type { ScheduleAnswer } from "../api/schema.gen";
import type { Algorithm } from "../state/types";

export interface FlowMoment {
  answer: ScheduleAnswer | null;
  time: number;
  length: number;
  playing: boolean;
}

export interface FlowControl {
  readonly moment: FlowMoment;
  /** Called now and at every change; returns the call that ends it. */
  subscribe(listener: (moment: FlowMoment) => void): () => void;
  choose(algorithm: Algorithm): void;
  play(): void;
  pause(): void;
  step(direction: 1 | -1): void;
  seek(time: number): void;
}
