/*
 * Words in the prose that name a part: rested on or focused they light it on the stand, activated they pick it. A part
 * that is picked on the stand marks its words.
 */
import { type Overlay, partsNamed } from "./overlay";

export interface Picker {
  pick(part: string | null): void;
}

export function wirePartWords(root: ParentNode, overlay: Overlay, picker: Picker): void {
  for (const word of root.querySelectorAll<HTMLElement>(".part[data-part]")) {
    const lit = partsNamed(word.dataset.part ?? "");
    word.tabIndex = 0;
    word.setAttribute("role", "button");
    word.setAttribute("aria-pressed", "false");
    const glance = () => overlay.set("hover", { lit });
    const leave = () => overlay.set("hover", null);
    word.addEventListener("pointerenter", (event) => event.pointerType !== "touch" && glance());
    word.addEventListener("pointerleave", leave);
    word.addEventListener("focus", glance);
    word.addEventListener("blur", leave);
    const toggle = () => {
      const off = word.getAttribute("aria-pressed") === "true";
      for (const other of root.querySelectorAll('.part[aria-pressed="true"]'))
        other.setAttribute("aria-pressed", "false");
      picker.pick(off ? null : (lit[0] ?? null));
      overlay.set("pick", off ? null : { lit });
      markWords(root, off ? [] : lit);
    };
    word.addEventListener("click", toggle);
    word.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle();
    });
  }
}

/** Marks the words that name one of these parts; none with an empty list. */
export function markWords(root: ParentNode, parts: readonly string[]): void {
  for (const word of root.querySelectorAll<HTMLElement>(".part[data-part]")) {
    const named = partsNamed(word.dataset.part ?? "").some((part) => parts.includes(part));
    word.setAttribute("aria-pressed", String(named));
  }
}
