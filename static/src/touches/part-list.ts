/* A list of parts whose names are buttons: rest on one to light it on the stand, press it to pick it. */
import type { TouchContext } from "./context";

/** Turns the first words of each item, its `strong`, into the button; calls back with the parts that are held. */
export function wirePartList(
  host: HTMLElement,
  context: TouchContext,
  expand: (names: string) => string[],
  held: (parts: readonly string[] | null) => void = () => {},
): void {
  const items = [...host.querySelectorAll<HTMLElement>(".part-list li[data-part]")];
  const buttons = items.map((item) => {
    const parts = expand(item.dataset.part ?? "");
    const name = item.querySelector("strong");
    const made = document.createElement("button");
    made.type = "button";
    made.className = "part-key";
    made.setAttribute("aria-pressed", "false");
    made.textContent = name?.textContent?.replace(/\.$/, "") ?? "";
    name?.replaceWith(made);
    made.addEventListener("pointerenter", (event) => event.pointerType !== "touch" && context.glance(parts));
    made.addEventListener("pointerleave", () => context.glance(null));
    made.addEventListener("focus", () => context.glance(parts));
    made.addEventListener("blur", () => context.glance(null));
    made.addEventListener("click", () => {
      const on = made.getAttribute("aria-pressed") !== "true";
      context.light(on ? parts : null);
      context.pick(on ? (parts[0] ?? null) : null);
      mark(on ? parts : []);
      held(on ? parts : null);
    });
    return { made, parts, item };
  });

  function mark(parts: readonly string[]): void {
    for (const { made, parts: own, item } of buttons) {
      const on = own.some((part) => parts.includes(part));
      made.setAttribute("aria-pressed", String(on));
      item.classList.toggle("held", on);
    }
  }

  context.onPicked((part) => mark(part ? [part] : []));
}
