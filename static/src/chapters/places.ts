/* Places in the story: a chapter and a step in it. Pure: addresses, order and scenes, without the document. */
import type { PoseName } from "../stand/types";

/** What the stand shows at a place, as the page's boot data lists it. */
export interface Scene {
  pose: PoseName;
  explode: number;
  lit: readonly string[];
  flow: "" | "standard" | "fa1" | "fa2";
  grid: boolean;
  labels: boolean;
  direction: "forward" | "backward";
  plaque: boolean;
  /** As in the address: "z0.36", or empty for the whole package. */
  cut: string;
  open: number;
  /** Share of the flow's schedule to stand at when the place is entered; null leaves it alone. */
  moment: number | null;
}

export interface ChapterScene {
  number: number;
  slug: string;
  title: string;
  fold_open_for: "know" | "write";
  stand: Scene;
  /** Each with what its scene has otherwise than the chapter's. */
  steps: readonly { id: string; stand: Partial<Scene> }[];
}

/** `step` 0 is the opening of the chapter, 1 its first step. */
export interface Place {
  chapter: ChapterScene;
  step: number;
}

export function sceneOf({ chapter, step }: Place): Scene {
  return { ...chapter.stand, ...chapter.steps[step - 1]?.stand };
}

/** The id of the element a place stands at; with "#" before it, its address. */
export function anchorOf({ chapter, step }: Place): string {
  const id = chapter.steps[step - 1]?.id;
  return id ? `chapter-${chapter.number}-${id}` : `chapter-${chapter.number}`;
}

/** The place an address names, or null. */
export function placeNamed(chapters: readonly ChapterScene[], hash: string): Place | null {
  const match = /^#chapter-(\d+)(?:-(.+))?$/.exec(hash);
  const chapter = chapters.find(({ number }) => String(number) === match?.[1]);
  if (!match || !chapter) return null;
  const step = match[2] === undefined ? 0 : chapter.steps.findIndex(({ id }) => id === match[2]) + 1;
  return step === 0 && match[2] !== undefined ? null : { chapter, step };
}

export function samePlace(a: Place, b: Place): boolean {
  return a.chapter === b.chapter && a.step === b.step;
}
