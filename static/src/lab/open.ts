/*
 * The door of the laboratory: what the first load needs of it. Everything behind it is fetched when the reader comes
 * near, or when the address already speaks of it.
 */
import type { ScheduleAnswer } from "../api/schema.gen";
import type { Flow } from "../stand/types";
import type { Store } from "../state/store";
import type { Choices, ExhibitState } from "../state/types";
import { byId } from "../ui/dom";

/** The chapter the laboratory is in comes within this share of the window. */
const NEAR = "100% 0px";

export interface LabDoor {
  /** The moment of the tiles, for the laboratory's own grid. */
  flow(now: Flow | null, answer: ScheduleAnswer | null): void;
}

/** `entered` hears when the laboratory comes into view and leaves it. */
export function openLab(
  store: Store<ExhibitState>,
  choices: Choices,
  notes: readonly string[],
  entered: (inside: boolean) => void,
): LabDoor {
  const host = byId("lab");
  const note = byId("lab-note");
  if (notes.length) note.textContent = notes.join(" ");
  let last: [Flow | null, ScheduleAnswer | null] = [null, null];
  let draw: ((now: Flow | null, answer: ScheduleAnswer | null) => void) | null = null;
  let asked = false;

  async function open(): Promise<void> {
    if (asked) return;
    asked = true;
    try {
      const [{ Lab }, { drawGrid }] = await Promise.all([import("./lab"), import("./grid")]);
      const lab = new Lab(store, choices);
      draw = (now, answer) => drawGrid(lab.grid, now, answer);
      draw(...last);
    } catch (error) {
      asked = false;
      console.warn("The laboratory could not be loaded:", error);
      note.textContent = "The laboratory could not be loaded; it is tried again when you come back to it.";
    }
  }

  new IntersectionObserver(([entry]) => entry?.isIntersecting && void open(), { rootMargin: NEAR }).observe(
    host.closest("section") ?? host,
  );
  new IntersectionObserver(([entry]) => entry && entered(entry.isIntersecting)).observe(host);
  return {
    flow(now, answer) {
      last = [now, answer];
      draw?.(now, answer);
    },
  };
}
