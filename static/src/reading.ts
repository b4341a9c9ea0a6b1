/*
 * Wires what belongs to reading: where the reader is, words and touches that show something on the stand, notes, the
 * reading level, the history of the browser, and present mode. The parts know nothing of each other.
 */
import { Director } from "./chapters/director";
import { Overlay, partsNamed } from "./chapters/overlay";
import { markWords, wirePartWords } from "./chapters/part-words";
import { anchorOf, type ChapterScene, type Scene, sceneOf } from "./chapters/places";
import { applyLevel } from "./chapters/reading-level";
import type { FlowControl } from "./flow/control";
import type { Presenter } from "./presenter/presenter";
import type { Chart, StandState } from "./stand/types";
import type { Store } from "./state/store";
import { type Choices, DEFAULTS, type ExhibitState, type Level } from "./state/types";
import { decode, encode } from "./state/url";
import type { Touches } from "./touches";
import type { TouchContext } from "./touches/context";

/** What the reader moves on the stand in one chapter is not carried into the next. */
const LEFT_TO_THE_CHAPTER = [
  ...(["algorithm", "moment", "twin", "parallel", "follow"] as const),
  ...(["plaque", "die", "explode", "cut", "open", "isolate"] as const),
];

export interface ReadingOptions {
  chapters: readonly ChapterScene[];
  store: Store<ExhibitState>;
  choices: Choices;
  flow: FlowControl;
  /** The place in the story is another one: its scene has to be shown. */
  entered: () => void;
  /** Something is laid over the scene, or no longer. */
  changed: () => void;
  /** Picks a part on the stand and shows its card, or clears both. */
  pick: (part: string | null) => void;
}

export class Reading {
  private readonly director: Director;
  private readonly overlay: Overlay;
  private readonly context: TouchContext;
  private touches: Promise<Touches> | null = null;
  private readonly pickListeners: ((part: string | null) => void)[] = [];
  private readonly shownListeners: ((state: StandState) => void)[] = [];
  private last: StandState | null = null;
  /** What each chapter's touch has set up on the stand. */
  private readonly charts = new Map<number, Chart | null>();
  private presenter: Promise<Presenter> | null = null;

  constructor(private readonly options: ReadingOptions) {
    const { chapters, store, choices, flow, entered, changed, pick } = options;
    this.overlay = new Overlay(changed);
    const query = () => encode(store.get());
    this.director = new Director(
      chapters,
      (place, before) => {
        // What the reader moved belongs to the chapter it was moved in.
        if (before && before.chapter !== place.chapter) {
          this.overlay.clear();
          pick(null);
          store.set(Object.fromEntries(LEFT_TO_THE_CHAPTER.map((key) => [key, DEFAULTS[key]])));
        }
        entered();
        if (before && before.chapter !== place.chapter) this.prepare();
        const opening = place.chapter.number === 1 && place.step === 0 && !location.hash;
        history.replaceState(null, "", location.pathname + query() + (opening ? "" : `#${anchorOf(place)}`));
      },
      query,
    );
    const lay = (layer: "touch" | "hover") => (parts: readonly string[] | null) =>
      this.overlay.set(layer, parts ? { lit: parts } : null);
    this.context = {
      store,
      choices,
      flow,
      light: lay("touch"),
      glance: lay("hover"),
      partsNamed,
      pick,
      onPicked: (listener) => this.pickListeners.push(listener),
      chart: (host, chart) => {
        this.charts.set(Number(host.closest<HTMLElement>(".chapter")?.dataset.number), chart);
        changed();
      },
      onShown: (listener) => {
        this.shownListeners.push(listener);
        if (this.last) listener(this.last);
      },
    };
    // With a figure above it a table steps back; one press shows it.
    for (const fold of document.querySelectorAll<HTMLDetailsElement>(".touch-host details.behind")) fold.open = false;
    wirePartWords(document, this.overlay, { pick });
    this.wireLinks();
    this.wireLevel();
    this.wirePresenter();
    addEventListener("popstate", () => store.set(decode(location.search, choices).state));
  }

  get scene(): Scene {
    return sceneOf(this.director.place);
  }

  get atLastChapter(): boolean {
    const { chapters } = this.options;
    return this.director.chapter === chapters[chapters.length - 1];
  }

  /** From now on touches come to life as they come near. */
  open(): void {
    void this.loadTouches().then((touches) => {
      touches.watch();
      this.prepare();
    });
  }

  /** The touch of the chapter being read shows something on the stand, wherever on the page it is itself. */
  private prepare(): void {
    const host = document.querySelector<HTMLElement>(
      `#chapter-${this.director.chapter.number} .touch-host[data-touch]`,
    );
    if (host) void this.touches?.then((touches) => touches.prepare(host));
  }

  private loadTouches(): Promise<Touches> {
    this.touches ??= import("./touches").then(({ Touches }) => new Touches(this.context));
    return this.touches;
  }

  /** The scene with what the reader lays over it. */
  over(state: StandState): StandState {
    return this.overlay.over({ ...state, chart: this.charts.get(this.director.chapter.number) ?? null });
  }

  /** The stand is told to show something else: what lies on the page can follow. */
  shown(state: StandState): void {
    this.last = state;
    for (const listener of this.shownListeners) listener(state);
  }

  start(): void {
    this.director.start();
    if (this.options.store.get().present) void this.present();
  }

  /** A part was picked on the stand, in a list or in the text: words and touches that name it are marked. */
  picked(part: string | null): void {
    if (part === null) this.overlay.set("pick", null);
    markWords(document, part ? [part] : []);
    for (const listener of this.pickListeners) listener(part);
  }

  private wireLinks(): void {
    document.addEventListener("click", (event) => {
      if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      const target = event.target as Element;
      if (target.closest(".note")) return;
      const link = target.closest<HTMLAnchorElement>('a.term[href], a.chip[href^="/numbers#"]');
      if (!link) return;
      event.preventDefault();
      import("./chapters/notes").then(({ openNote }) => openNote(link)).catch(() => location.assign(link.href));
    });
  }

  private wireLevel(): void {
    const { store, chapters } = this.options;
    applyLevel(store.get().level, chapters);
    store.subscribe((now, before) => now.level !== before.level && applyLevel(now.level, chapters));
    for (const input of document.querySelectorAll<HTMLInputElement>('input[name="level"]'))
      input.addEventListener("change", () => store.set({ level: input.value as Level }));
  }

  private wirePresenter(): void {
    document.getElementById("present")?.addEventListener("click", () => void this.present());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "p" && event.key !== "P") return;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if ((event.target as Element).matches("input:not([type=range], [type=radio], [type=checkbox]), select, textarea"))
        return;
      event.preventDefault();
      void this.present();
    });
  }

  private async present(): Promise<void> {
    this.presenter ??= import("./presenter/presenter").then(
      async ({ loadCues, Presenter }) =>
        new Presenter({
          store: this.options.store,
          director: this.director,
          cues: await loadCues(),
          prepare: (host) => void this.loadTouches().then((touches) => touches.prepare(host)),
        }),
    );
    (await this.presenter).start();
  }
}
