/* What a part is: its card over the stand, and the list of parts for those who do not point. */
import { getFact } from "../api/client";
import type { Part, Stand } from "../stand/types";
import { byId, make } from "../ui/dom";

/** Shows the name of a part pointed at, or the whole card of a part picked; `close` is what its button does. */
export async function showPart(part: Part | null, picked: boolean, close: () => void): Promise<void> {
  const card = byId("part-card");
  // A card that is being read does not give way to whatever the pointer passes over.
  if (!picked && !card.hidden && card.classList.contains("picked")) return;
  for (const button of document.querySelectorAll<HTMLButtonElement>("#parts button"))
    button.setAttribute("aria-pressed", String(picked && button.dataset.part === part?.id));
  if (!part) {
    card.hidden = true;
    return;
  }
  card.dataset.part = part.id;
  card.classList.toggle("picked", picked);
  card.replaceChildren(make("strong", {}, part.title));
  card.hidden = false;
  if (!picked) return;
  const button = make("button", { type: "button", class: "card-close", "aria-label": "Close" }, "×");
  button.addEventListener("click", close);
  card.append(` ${part.what}`, button);
  for (const id of part.facts) {
    const fact = await getFact(id).catch(() => null);
    if (!fact || card.dataset.part !== part.id) continue;
    const link = make("a", { class: `chip chip-${fact.kind}`, href: `/numbers#${id}` }, fact.text);
    card.append(make("span", { class: "part-fact" }, `${fact.claim}: `, link));
  }
}

/** The list of parts; `pick` marks the part everywhere and shows its card, or clears both with null. */
export function listParts(stand: Stand, pick: (part: string | null) => void): void {
  const items = stand.parts().map((part) => {
    const button = make("button", { type: "button", "data-part": part.id, "aria-pressed": "false" }, part.title);
    button.addEventListener("click", () => {
      pick(button.getAttribute("aria-pressed") === "true" ? null : part.id);
      byId<HTMLDetailsElement>("parts-menu").open = false;
    });
    return make("li", {}, button);
  });
  byId("parts").replaceChildren(...items);
}
