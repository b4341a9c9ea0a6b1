/*
 * The small note that opens beside a chip or a term: what a figure is worth and where it stands, or what a word means.
 * Loaded at the first activation; without a script the same links lead to the page of numbers and to the glossary.
 */
import { ApiError, getFact } from "../api/client";
import type { FactAnswer } from "../api/schema.gen";
import { make } from "../ui/dom";

const GAP = 8;
let note: HTMLElement | null = null;
let beside: HTMLAnchorElement | null = null;
let opened = 0;

/** Opens the note that belongs to a chip or term. */
export async function openNote(link: HTMLAnchorElement): Promise<void> {
  const mine = ++opened;
  const id = decodeURIComponent(link.hash.slice(1));
  const content = await (link.matches(".term") ? meaning(id) : figure(id));
  if (mine !== opened) return;
  const box = element();
  box.setAttribute("aria-label", link.textContent?.trim() ?? "Note");
  box.replaceChildren(...content);
  beside = link;
  box.showPopover();
  place(box, link);
  box.focus({ preventScroll: true });
}

function element(): HTMLElement {
  if (!note) {
    note = make("div", { class: "note", popover: "auto", role: "dialog", tabindex: "-1" });
    document.body.append(note);
    addEventListener("scroll", follow, { passive: true });
  }
  if (note.matches(":popover-open")) note.hidePopover();
  return note;
}

let glossary: Promise<Document> | null = null;

/** The glossary is a page of its own; it is fetched once, when the first word is asked for. */
async function meaning(id: string): Promise<Node[]> {
  glossary ??= fetch("/glossary")
    .then((answer) => answer.text())
    .then((page) => new DOMParser().parseFromString(page, "text/html"));
  const name = (await glossary).getElementById(id);
  const text = name?.nextElementSibling?.textContent ?? "";
  return [make("p", { class: "note-head" }, name?.firstChild?.textContent ?? id), make("p", {}, text)];
}

async function figure(id: string): Promise<Node[]> {
  try {
    return describe(await getFact(id));
  } catch (error) {
    const reason = error instanceof ApiError ? error.message : "The figure could not be loaded.";
    return [make("p", {}, reason), more(id)];
  }
}

/** The lines of a figure's note; those without content are left out. */
export function describe(fact: FactAnswer): Node[] {
  const rows: [string, string | null | undefined][] = [
    ["Holds for", fact.conditions],
    ["Formula", fact.formula],
    ["Source", `${fact.source.title}, ${fact.source.authors}, ${fact.source.year}`],
    ["Place", fact.locator],
    ["Mark", fact.label],
    ["Note", fact.note],
  ];
  const list = make("dl", {});
  for (const [name, text] of rows) if (text) list.append(make("dt", {}, name), make("dd", {}, text));
  return [make("p", { class: "note-head" }, fact.text), make("p", {}, fact.claim), list, more(fact.id)];
}

function more(id: string): Node {
  return make("p", {}, make("a", { href: `/numbers#${id}` }, "In the list of all numbers"));
}

/** It stays beside its word while that is in view, and goes with it. */
function follow(): void {
  if (!note?.matches(":popover-open") || !beside) return;
  const { top, bottom } = beside.getBoundingClientRect();
  if (bottom < 0 || top > innerHeight) note.hidePopover();
  else place(note, beside);
}

function place(box: HTMLElement, link: HTMLElement): void {
  const at = link.getClientRects()[0] ?? link.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  const left = Math.max(GAP, Math.min(at.left, innerWidth - width - GAP));
  const below = at.bottom + GAP;
  const top = below + height <= innerHeight ? below : Math.max(GAP, at.top - GAP - height);
  box.style.left = `${left}px`;
  box.style.top = `${top}px`;
}
