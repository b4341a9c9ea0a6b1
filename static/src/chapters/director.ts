/*
 * Which chapter and step are being read, and with that what the stand should show. Scrolling chooses a place; it never
 * drives time. A link to a place is entered at once and kept until the reader scrolls on.
 */
import { anchorOf, type ChapterScene, type Place, placeNamed, samePlace } from "./places";

/** A place is current when it crosses this share of the window's height, counted from below the stand if that is on top. */
const READING_LINE = 0.35;
/** A jump is over when nothing has scrolled for this long. */
const STILL_MS = 200;
// A busy browser tells of the scroll with which it keeps a growing page in its place only some time after the growth.
const GROWTH_MS = 1500;
/** How far a place may lie from where it belongs after a jump, in px; figures that come to life on the way move it. */
const OFF_PX = 8;
const MOST_TRIES = 8;
const HANDS = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

/** What the address points to, be it a place of the story or not: the laboratory, a closing section. */
const elementNamed = () => document.getElementById(location.hash.slice(1));

export class Director {
  private current: Place;
  private readonly anchors: { place: Place; element: HTMLElement }[] = [];
  private queued = 0;
  private grown = Number.NEGATIVE_INFINITY;
  private travel = 0;
  private watching = true;
  /** How far the window was scrolled and where on the page the jump's place began, when last looked at, in px. */
  private seen = { scrolled: 0, top: 0 };
  /** Where a jump is to end, until it has, or until the reader takes over. */
  private target: { element: HTMLElement; exact: boolean; tries: number } | null = null;

  constructor(
    readonly chapters: readonly ChapterScene[],
    private readonly entered: (place: Place, before: Place | null) => void,
    /** The query of the address for the state as it is now: a link must not lead away from a stale one. */
    query: () => string,
  ) {
    this.current = { chapter: chapters[0] as ChapterScene, step: 0 };
    for (const chapter of chapters)
      for (let step = 0; step <= chapter.steps.length; step++) {
        const place = { chapter, step };
        const element = document.getElementById(anchorOf(place));
        if (element) this.anchors.push({ place, element });
      }
    addEventListener("scroll", () => this.scrolled(), { passive: true });
    addEventListener("resize", () => this.queue());
    // A link leaves a note of where the reader was in the entry it leaves behind; Back returns there.
    history.scrollRestoration = "manual";
    let clicked = false;
    document.addEventListener("click", (event) => {
      clicked = (event.target as Element).closest('a[href^="#chapter-"]') !== null;
      if (clicked) history.replaceState({ y: scrollY }, "", location.pathname + query() + location.hash);
    });
    // Links and Back both end in a place that is named; the way there is not read.
    addEventListener("popstate", (event) => {
      if (!this.watching) return;
      const named = placeNamed(chapters, location.hash);
      if (!named) {
        this.aim(elementNamed(), true);
        return;
      }
      const left: unknown = (event.state as { y?: unknown } | null)?.y;
      const y = typeof left === "number" && !clicked ? left : null;
      if (!clicked) this.jump(named, y);
      this.aim(document.getElementById(anchorOf(named)), y === null);
      clicked = false;
      this.enter(named);
    });
    // Until the reader takes over, a page that grows does not carry the place away.
    new ResizeObserver(() => {
      this.grown = performance.now();
      if (this.target) this.travelOn();
    }).observe(document.body);
    for (const hand of HANDS)
      addEventListener(
        hand,
        () => {
          this.target = null;
        },
        { passive: true },
      );
  }

  get place(): Place {
    return this.current;
  }

  get chapter(): ChapterScene {
    return this.current.chapter;
  }

  /** Goes to whatever the address names, or stays where the page is, and reports what is being read. */
  start(): void {
    const named = placeNamed(this.chapters, location.hash);
    // Other places of the page can be linked to as well, the laboratory above all.
    const element = named ? document.getElementById(anchorOf(named)) : elementNamed();
    element?.scrollIntoView({ behavior: "instant" });
    this.aim(element, true);
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
    this.jump(this.current);
    this.aim(document.getElementById(anchorOf(this.current)), true);
  }

  private jump(place: Place, y: number | null = null): void {
    if (y !== null) scrollTo({ top: y, behavior: "instant" });
    else document.getElementById(anchorOf(place))?.scrollIntoView({ behavior: "instant" });
  }

  /** A jump to a place has begun: to its very spot, or (going back) to wherever in the chapter the reader was. */
  private aim(element: HTMLElement | null, exact: boolean): void {
    this.target = element && { element, exact, tries: MOST_TRIES };
    this.travelOn();
  }

  private scrolled(): void {
    if (this.travel) {
      this.travelOn();
      return;
    }
    // The browser scrolls too, to keep a page that grows above in its place, and tells of the jump itself, at times late;
    // only the reader's scrolling ends a jump.
    if (this.target) {
      const now = this.look(this.target.element);
      const moved = Math.abs(now.scrolled - this.seen.scrolled) > 1;
      const pushed = Math.abs(now.top - this.seen.top) > 1 || performance.now() - this.grown < GROWTH_MS;
      if (moved && !pushed) this.target = null;
      else this.travelOn();
    }
    this.queue();
  }

  private look(element: HTMLElement): { scrolled: number; top: number } {
    return { scrolled: scrollY, top: element.getBoundingClientRect().top + scrollY };
  }

  private travelOn(): void {
    if (this.target) this.seen = this.look(this.target.element);
    clearTimeout(this.travel);
    this.travel = window.setTimeout(() => {
      this.travel = 0;
      this.correct();
    }, STILL_MS);
  }

  /** What came to life on the way may have pushed the place away from where the jump ended. */
  private correct(): void {
    const { target } = this;
    if (!target) return;
    const margin = parseFloat(getComputedStyle(target.element).scrollMarginTop);
    const padding = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
    const off = Math.abs(target.element.getBoundingClientRect().top - margin - padding);
    const lost = target.exact ? off > OFF_PX : this.atReadingLine().chapter !== this.current.chapter;
    if (!lost || target.tries-- === 0) {
      if (!placeNamed(this.chapters, `#${target.element.id}`)) this.queue();
      return;
    }
    target.element.scrollIntoView({ behavior: "instant" });
    this.travelOn();
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
