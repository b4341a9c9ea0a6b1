/*
 * Present mode, first form: one step at a time beside the stand, nothing scrolls, nothing needs hover. Each slide is the
 * opening of a chapter, one of its steps, or the thing to touch, which is moved here and put back afterwards.
 */
import "../../styles/presenter.css";
import type { Director } from "../chapters/director";
import type { Store } from "../state/store";
import type { ExhibitState, ThemeName } from "../state/types";
import { byId, make } from "../ui/dom";
import { commandOf, KEY_LIST, type Slide, slideAt, slidesOf } from "./slides";

export interface PresenterOptions {
  store: Store<ExhibitState>;
  director: Director;
  /** The page with every step in one sentence. */
  cues: Document;
  /** Makes what a touch needs before it is shown. */
  prepare: (host: HTMLElement) => void;
}

export class Presenter {
  private readonly slides: readonly Slide[];
  private at = 0;
  private running = false;
  private themeBefore: ThemeName = "gallery";
  private borrowed: { node: HTMLElement; place: Comment } | null = null;
  private readonly words = make("div", { class: "slide" });
  private readonly count = make("p", { class: "slide-count" });
  private readonly keys = make("dialog", { class: "slide-keys", "aria-label": "Keys of present mode" });
  private readonly blank = make("div", { class: "slide-blank", hidden: "" });
  private readonly root: HTMLElement;

  constructor(private readonly options: PresenterOptions) {
    this.slides = slidesOf(options.director.chapters);
    const button = (text: string, label: string, action: () => void) => {
      const made = make("button", { type: "button", "aria-label": label }, text);
      made.addEventListener("click", action);
      return made;
    };
    const bar = make(
      "div",
      { class: "slide-bar" },
      button("◀", "One step back", () => this.go(this.at - 1)),
      button("▶", "Next step", () => this.go(this.at + 1)),
      this.count,
      button("?", "Keys", () => this.keys.showModal()),
      button("Leave", "Leave present mode", () => this.leave()),
    );
    const list = make("dl", {});
    for (const [key, what] of KEY_LIST) list.append(make("dt", {}, key), make("dd", {}, what));
    this.keys.append(list, make("form", { method: "dialog" }, make("button", {}, "Close")));
    this.root = make(
      "section",
      { class: "presenter", "aria-label": "Present mode", tabindex: "-1", hidden: "" },
      this.words,
      bar,
      this.keys,
      this.blank,
    );
    this.words.setAttribute("aria-live", "polite");
    document.querySelector("main.exhibit")?.append(this.root);
    document.addEventListener("keydown", (event) => this.running && this.key(event));
  }

  start(): void {
    if (this.running) return;
    const { store, director } = this.options;
    this.running = true;
    this.themeBefore = store.get().theme;
    document.documentElement.classList.add("presenting");
    this.root.hidden = false;
    store.set({ theme: "projector", present: true });
    this.show(slideAt(this.slides, director.place));
    this.root.focus({ preventScroll: true });
  }

  leave(): void {
    if (!this.running) return;
    this.running = false;
    this.giveBack();
    this.blank.hidden = true;
    this.root.hidden = true;
    document.documentElement.classList.remove("presenting");
    this.options.store.set({ theme: this.themeBefore, present: false });
    this.options.director.release();
  }

  private go(to: number): void {
    const near = Math.min(this.slides.length - 1, Math.max(0, to));
    if (near !== this.at) this.show(near);
  }

  private show(at: number): void {
    const slide = this.slides[at] as Slide;
    const { chapter, step } = slide.place;
    this.giveBack();
    this.at = at;
    this.options.director.hold(slide.place);
    this.root.dataset.slide = slide.touch ? "touch" : step ? "step" : "opening";
    const section = byId(`chapter-${chapter.number}`);
    const head = make(
      "p",
      { class: "eyebrow" },
      `Chapter ${chapter.number}${step || slide.touch ? ` · ${chapter.title}` : ""}`,
    );
    if (slide.touch) {
      const node = section.querySelector<HTMLElement>(".touch-host") ?? byId("lab");
      this.borrow(node);
      this.words.replaceChildren(head, node);
      this.options.prepare(node);
    } else if (step) {
      const cue = this.options.cues.querySelector(`[data-cue="${chapter.number}-${chapter.steps[step - 1]?.id}"]`);
      this.words.replaceChildren(head, make("p", { class: "slide-cue" }, ...copies(cue)));
    } else {
      const keyLine = make("p", { class: "key-line" }, ...copies(section.querySelector(".key-line")));
      const question = make("p", { class: "question" }, section.querySelector(".question")?.textContent ?? "");
      this.words.replaceChildren(head, make("h2", {}, chapter.title), question, keyLine);
    }
    this.words.scrollTop = 0;
    this.count.textContent = `${at + 1} of ${this.slides.length}`;
  }

  private borrow(node: HTMLElement): void {
    const place = document.createComment("the touch is on show");
    node.replaceWith(place);
    this.borrowed = { node, place };
  }

  private giveBack(): void {
    this.borrowed?.place.replaceWith(this.borrowed.node);
    this.borrowed = null;
  }

  private key(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || this.keys.open) return;
    const command = commandOf(event.key);
    if (!command || taken(event.target, event.key)) return;
    // An open note closes first; the browser does that by itself.
    if (command === "leave" && document.querySelector(":popover-open")) return;
    event.preventDefault();
    if (command === "leave" && !this.blank.hidden) this.blank.hidden = true;
    else if (command === "leave") this.leave();
    else if (command === "blank") this.blank.hidden = !this.blank.hidden;
    else if (command === "keys") this.keys.showModal();
    else if (command === "first") this.go(0);
    else if (command === "last") this.go(this.slides.length - 1);
    else this.go(this.at + (command === "next" ? 1 : -1));
  }
}

/** Whether the control with the focus needs this key itself. */
export function taken(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  if (target.matches("input, select, textarea, [contenteditable]")) return key !== "Escape";
  return (key === " " || key === "Enter") && target.closest("button, a, summary, [role=button]") !== null;
}

/** Fetches the page that holds the sentences of the steps. */
export async function loadCues(): Promise<Document> {
  const page = await fetch("/cues").then((answer) => answer.text());
  return new DOMParser().parseFromString(page, "text/html");
}

function copies(source: Element | null): Node[] {
  return [...(source?.cloneNode(true).childNodes ?? [])];
}
