/* What a touch is given: the reader's state, the tiles' clock, and a few ways to show something on the stand. */
import type { FlowControl } from "../flow/control";
import type { Chart, StandState } from "../stand/types";
import type { Store } from "../state/store";
import type { Choices, ExhibitState } from "../state/types";

export interface TouchContext {
  store: Store<ExhibitState>;
  choices: Choices;
  flow: FlowControl;
  /** Keeps parts bright until the reader moves on; null gives the chapter its own back. */
  light(parts: readonly string[] | null): void;
  /** The same for as long as something is rested on. */
  glance(parts: readonly string[] | null): void;
  /** Part ids of a `data-part` attribute; "hbm" stands for the stacks that are named. */
  partsNamed(names: string): string[];
  pick(part: string | null): void;
  /** Sets something up on the stand for as long as the chapter of `host` is read; null takes it away. */
  chart(host: HTMLElement, chart: Chart | null): void;
  /** Hears what the stand is told to show, now and from now on. */
  onShown(listener: (state: StandState) => void): void;
  /** Hears of the part picked on the stand, or null; returns nothing: touches live as long as the page. */
  onPicked(listener: (part: string | null) => void): void;
}

/** Fills `live`, the place for controls and figure; `host` holds the tables as well. */
export type Touch = (live: HTMLElement, host: HTMLElement, context: TouchContext) => void;
