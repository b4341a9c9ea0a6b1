/* Which chapter is being read, and what the stand should show for it. Scrolling chooses a state; it never drives time. */
import type { Cut, PoseName } from "../stand/types";

/** One chapter as the page's boot data lists it. */
export interface ChapterScene {
  number: number;
  slug: string;
  title: string;
  stand: {
    pose: PoseName;
    explode: number;
    lit: string[];
    flow: "" | "standard" | "fa1" | "fa2";
    direction: "forward" | "backward";
    plaque: boolean;
    grid: boolean;
    labels: boolean;
    /** As in the address: "z0.36", or empty for the whole package. */
    cut: string;
    open: number;
  };
}

/** The plane a text such as "z0.36" names; null for anything else. */
export function cutNamed(text: string): Cut | null {
  const axis = text[0];
  const at = Number(text.slice(1));
  return (axis === "x" || axis === "z") && text.length > 1 && Number.isFinite(at) ? { axis, at } : null;
}

/** The text for a plane, to a hundredth. */
export function cutText({ axis, at }: Cut): string {
  return `${axis}${Math.round(at * 100) / 100}`;
}

/** A chapter is current when it crosses this share of the window's height, counted from below the stand if that is on top. */
const READING_LINE = 0.35;

export class Director {
  private current: ChapterScene;
  private readonly sections: HTMLElement[];
  private queued = 0;

  constructor(
    private readonly chapters: readonly ChapterScene[],
    private readonly entered: (chapter: ChapterScene) => void,
  ) {
    this.current = chapters[0] as ChapterScene;
    this.sections = chapters.map((chapter) => document.getElementById(`chapter-${chapter.number}`) as HTMLElement);
    addEventListener("scroll", () => this.queue(), { passive: true });
    addEventListener("resize", () => this.queue());
  }

  get chapter(): ChapterScene {
    return this.current;
  }

  /** Goes to the chapter the address names, or stays where the page is, and reports what is being read. */
  start(): void {
    const named = this.chapters.findIndex((chapter) => location.hash === `#chapter-${chapter.number}`);
    this.sections[named]?.scrollIntoView({ behavior: "instant" });
    this.enter(named < 0 ? this.atReadingLine() : (this.chapters[named] as ChapterScene));
  }

  private queue(): void {
    if (this.queued) return;
    this.queued = requestAnimationFrame(() => {
      this.queued = 0;
      const found = this.atReadingLine();
      if (found !== this.current) this.enter(found);
    });
  }

  private atReadingLine(): ChapterScene {
    const stand = document.querySelector(".stand")?.getBoundingClientRect();
    const onTop = stand !== undefined && stand.width > innerWidth * 0.9;
    const top = onTop ? Math.min(stand.bottom, innerHeight * 0.8) : 0;
    const line = top + (innerHeight - top) * READING_LINE;
    let found = 0;
    this.sections.forEach((section, i) => {
      if (section.getBoundingClientRect().top <= line) found = i;
    });
    return this.chapters[found] as ChapterScene;
  }

  private enter(chapter: ChapterScene): void {
    this.current = chapter;
    for (const link of document.querySelectorAll<HTMLAnchorElement>(".rail a")) {
      const here = link.hash === `#chapter-${chapter.number}`;
      if (here) {
        link.setAttribute("aria-current", "true");
        const rail = link.closest(".rail");
        if (rail) rail.scrollLeft = link.offsetLeft - rail.clientWidth / 2;
      } else link.removeAttribute("aria-current");
    }
    this.entered(chapter);
  }
}
