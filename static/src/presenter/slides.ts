/* The slides of present mode: for each chapter its opening, every step, then what there is to touch. Pure. */
import { type ChapterScene, type Place, samePlace } from "../chapters/places";

export interface Slide {
  place: Place;
  /** Shows the thing to touch instead of words. */
  touch: boolean;
}

export function slidesOf(chapters: readonly ChapterScene[]): Slide[] {
  return chapters.flatMap((chapter) => [
    ...[...Array(chapter.steps.length + 1).keys()].map((step) => ({ place: { chapter, step }, touch: false })),
    { place: { chapter, step: 0 }, touch: true },
  ]);
}

/** Where a place stands among the slides; the first slide for a place that has none. */
export function slideAt(slides: readonly Slide[], place: Place): number {
  return Math.max(
    0,
    slides.findIndex((slide) => !slide.touch && samePlace(slide.place, place)),
  );
}

export type Command = "next" | "back" | "first" | "last" | "blank" | "keys" | "leave";

const KEYS: Readonly<Record<string, Command>> = {
  PageDown: "next",
  ArrowRight: "next",
  ArrowDown: "next",
  " ": "next",
  PageUp: "back",
  ArrowLeft: "back",
  ArrowUp: "back",
  Home: "first",
  End: "last",
  b: "blank",
  B: "blank",
  ".": "blank",
  "?": "keys",
  Escape: "leave",
};

export function commandOf(key: string): Command | null {
  return Object.hasOwn(KEYS, key) ? (KEYS[key] ?? null) : null;
}

/** What the list of keys says. */
export const KEY_LIST: readonly (readonly [string, string])[] = [
  ["Page Down, →, ↓, space", "next step"],
  ["Page Up, ←, ↑", "step back"],
  ["Home, End", "first and last step"],
  ["b or .", "blank the screen"],
  ["?", "this list"],
  ["Escape", "leave"],
];
