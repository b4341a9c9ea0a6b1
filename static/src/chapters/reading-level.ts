/*
 * The reading level: which terms are explained and which folds stand open. A term that is not explained is plain text:
 * no mark, no stop for the Tab key.
 */
import type { Level } from "../state/types";
import type { ChapterScene } from "./places";

const RANK: Readonly<Record<Level, number>> = { new: 0, know: 1, write: 2 };

/** Whether a term explained down to `term` is still explained to this reader. */
export function explained(term: Level, reader: Level): boolean {
  return RANK[reader] <= RANK[term];
}

export function foldOpen(openFor: Level, reader: Level): boolean {
  return RANK[reader] >= RANK[openFor];
}

export function applyLevel(level: Level, chapters: readonly ChapterScene[]): void {
  for (const term of document.querySelectorAll<HTMLAnchorElement>("a.term")) {
    const downTo = term.classList.contains("term-know") ? "know" : "new";
    if (term.hash) term.dataset.href = `/glossary${term.hash}`;
    if (explained(downTo, level)) term.setAttribute("href", term.dataset.href ?? "/glossary");
    else term.removeAttribute("href");
  }
  for (const chapter of chapters) {
    const fold = document.querySelector<HTMLDetailsElement>(`#chapter-${chapter.number} > .look-closer`);
    if (fold) fold.open = foldOpen(chapter.fold_open_for, level);
  }
  const radio = document.querySelector<HTMLInputElement>(`input[name="level"][value="${level}"]`);
  if (radio) radio.checked = true;
}
