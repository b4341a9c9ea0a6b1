/* Places and their addresses: every place is found again under its own address, and nothing else is found. */
import { describe, expect, it } from "vitest";
import { anchorOf, type ChapterScene, placeNamed, type Scene, samePlace, sceneOf } from "../../../static/src/chapters/places";

const scene = (pose: Scene["pose"]): Scene => ({
  pose,
  explode: 0,
  lit: [],
  flow: "",
  direction: "forward",
  plaque: false,
  grid: false,
  labels: true,
  cut: "",
  open: 0,
  moment: null,
});

const CHAPTERS: ChapterScene[] = [
  { number: 1, slug: "a", title: "A", fold_open_for: "write", stand: scene("hero"), steps: [] },
  {
    number: 12,
    slug: "b",
    title: "B",
    fold_open_for: "know",
    stand: scene("die"),
    steps: [
      { id: "first", stand: scene("flow") },
      { id: "two-words", stand: scene("grid") },
    ],
  },
];

describe("places", () => {
  it("are found under their address", () => {
    for (const chapter of CHAPTERS)
      for (let step = 0; step <= chapter.steps.length; step++) {
        const place = { chapter, step };
        const found = placeNamed(CHAPTERS, `#${anchorOf(place)}`);
        expect(found && samePlace(found, place)).toBe(true);
      }
  });

  it.each(["", "#", "#chapter-2", "#chapter-12-third", "#chapter-1-first", "#chapter-012", "#lab", "chapter-1"])(
    "are not found under %j",
    (hash) => expect(placeNamed(CHAPTERS, hash)).toBeNull(),
  );

  it("show the scene of their step", () => {
    const chapter = CHAPTERS[1] as ChapterScene;
    expect([0, 1, 2].map((step) => sceneOf({ chapter, step }).pose)).toEqual(["die", "flow", "grid"]);
  });
});
