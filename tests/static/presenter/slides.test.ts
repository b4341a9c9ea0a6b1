/* The slides of present mode: order, and the keys that move through them. */
import { describe, expect, it } from "vitest";
import type { ChapterScene } from "../../../static/src/chapters/places";
import { commandOf, slideAt, slidesOf } from "../../../static/src/presenter/slides";

const chapter = (number: number, ids: string[]): ChapterScene => {
  const stand = { pose: "hero", explode: 0, lit: [], flow: "", direction: "forward", plaque: false, grid: false, labels: true, cut: "", open: 0, moment: null } as const;
  return { number, slug: "s", title: "T", fold_open_for: "write", stand, steps: ids.map((id) => ({ id, stand })) };
};

describe("slides", () => {
  const chapters = [chapter(1, ["a", "b"]), chapter(2, [])];
  const slides = slidesOf(chapters);

  it("show the opening, each step, then the touch", () => {
    expect(slides.map(({ place, touch }) => `${place.chapter.number}.${place.step}${touch ? "t" : ""}`)).toEqual([
      "1.0",
      "1.1",
      "1.2",
      "1.0t",
      "2.0",
      "2.0t",
    ]);
  });

  it("start where the reader is", () => {
    expect(slideAt(slides, { chapter: chapters[0] as ChapterScene, step: 2 })).toBe(2);
    expect(slideAt(slides, { chapter: chapters[1] as ChapterScene, step: 0 })).toBe(4);
    expect(slideAt(slides, { chapter: chapter(9, []), step: 0 })).toBe(0);
  });
});

describe("keys", () => {
  it.each([
    ["PageDown", "next"],
    [" ", "next"],
    ["ArrowRight", "next"],
    ["PageUp", "back"],
    ["ArrowLeft", "back"],
    ["Home", "first"],
    ["End", "last"],
    ["b", "blank"],
    [".", "blank"],
    ["?", "keys"],
    ["Escape", "leave"],
    ["x", null],
    ["constructor", null],
  ])("%j means %j", (key, command) => expect(commandOf(key)).toBe(command));
});
