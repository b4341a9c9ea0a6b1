/*
 * Which chapter and step are being read, and with that what the stand should show. Scrolling chooses a place; it never
 * drives time. A link to a place is entered at once and kept until the reader scrolls on.
 */
import { anchorOf, type ChapterScene, type Place, placeNamed, samePlace } from "./places";

/** A place is current when it crosses this share of the window's height, counted from below the stand if that is on top. */
const READING_LINE = 0.35;
/** A jump is over when nothing has scrolled for this long. */
const STILL_MS = 200;

export class Director {
  private current: Place;
  private readonly anchors: { place: Place; element: HTMLElement }[] = [];
  private queued = 0;
  private travel = 0;
  private watching = true;

  constructor(
    readonly chapters: readonly ChapterScene[],
    private readonly entered: (place: Place, before: Place | null) => void,
  ) {
    this.current = { chapter: chapters[0] as ChapterScene, step: 0 };
    for (const chapter of chapters)
      for (let step = 0; step <= chapter.steps.length; step++) {
        const place = { chapter, step };
        const element = document.getElementById(anchorOf(place));
        if (element) this.anchors.push({ place, element });
      }
    addEventListener("scroll", () => (this.travel ? this.travelOn() : this.queue()), { passive: true });
    addEventListener("resize", () => this.queue());
    // Links and the browser's Back both end in a place that is named; the way there is not read.
    addEventListener("hashchange", () => {
      const named = placeNamed(chapters, location.hash);
      if (named && this.watching) {
        this.travelOn();
        this.enter(named);
      }
    });
  }

  get place(): Place {
    return this.current;
  }

  get chapter(): ChapterScene {
    return this.current.chapter;
  }

  /** Goes to the place the address names, or stays where the page is, and reports what is being read. */
  start(): void {
    const named = placeNamed(this.chapters, location.hash);
    if (named) {
      document.getElementById(anchorOf(named))?.scrollIntoView({ behavior: "instant" });
      this.travelOn();
    }
    this.enter(named ?? this.atReadingLine(), true);
  }

  /** Present mode chooses the place itself; scrolling then chooses nothing. */
  hold(place: Place): void {
    this.watching = false;
    if (!samePlace(place, this.current)) this.enter(place);
  }

  /** Back to reading, at the place last held. */
  release(): void {
    this.watching = true;
    document.getElementById(anchorOf(this.current))?.scrollIntoView({ behavior: "instant" });
    this.travelOn();
  }

  private travelOn(): void {
    clearTimeout(this.travel);
    this.travel = window.setTimeout(() => {
      this.travel = 0;
    }, STILL_MS);
  }

  private queue(): void {
    if (this.queued || !this.watching) return;
    this.queued = requestAnimationFrame(() => {
      this.queued = 0;
      if (this.travel || !this.watching) return;
      const found = this.atReadingLine();
      if (!samePlace(found, this.current)) this.enter(found);
    });
  }

  private atReadingLine(): Place {
    const stand = document.querySelector(".stand")?.getBoundingClientRect();
    const onTop = stand !== undefined && stand.width > innerWidth * 0.9;
    const top = onTop ? Math.min(stand.bottom, innerHeight * 0.8) : 0;
    const line = top + (innerHeight - top) * READING_LINE;
    let found = this.anchors[0]?.place as Place;
    for (const { place, element } of this.anchors) {
      const above = element.getBoundingClientRect().top <= line;
      if (above) found = place;
      else if (place.step === 0) break;
    }
    return found;
  }

  private enter(place: Place, first = false): void {
    const before = first ? null : this.current;
    this.current = place;
    if (before?.chapter !== place.chapter)
      for (const link of document.querySelectorAll<HTMLAnchorElement>(".rail a")) {
        if (link.hash === `#chapter-${place.chapter.number}`) {
          link.setAttribute("aria-current", "true");
          const rail = link.closest(".rail");
          if (rail) rail.scrollLeft = link.offsetLeft - rail.clientWidth / 2;
        } else link.removeAttribute("aria-current");
      }
    this.entered(place, before);
  }
}
