/*
 * Which flows the panel asks for: the reader's choice where there is one, else the chapter's. Pure. A reader who has
 * chosen an algorithm has chosen its direction too; until then the chapter's direction counts.
 */
import type { Algorithm, Direction, ExhibitState } from "../state/types";

export interface Scene {
  /** Whose tiles the chapter shows; "none" for none. */
  algorithm: Algorithm;
  direction?: Direction;
  blocksM: number;
  blocksN: number;
  /** Share of the schedule to stand at, where the place in the story asks for one. */
  moment?: number | null;
  /** The laboratory's whole setting goes along: its own blocks (blocksM and blocksN are then the most drawn) and heads. */
  whole?: boolean;
}

export interface Choice {
  algorithm: Algorithm;
  direction: Direction;
  /** Whose schedules are shown, left to right; none, one or two. */
  shown: readonly Exclude<Algorithm, "none">[];
}

type Chosen = Pick<ExhibitState, "algorithm" | "direction" | "twin">;

export function choiceOf(state: Readonly<Chosen>, scene: Readonly<Scene>): Choice {
  const algorithm = state.algorithm ?? scene.algorithm;
  const leads = state.algorithm === null && state.direction === "forward";
  const direction = leads ? (scene.direction ?? "forward") : state.direction;
  if (state.twin && state.algorithm !== "none") {
    const version = algorithm === "fa1" ? "fa1" : "fa2";
    return { algorithm, direction, shown: ["standard", version] };
  }
  return { algorithm, direction, shown: algorithm === "none" ? [] : [algorithm] };
}
