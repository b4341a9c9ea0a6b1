/* What a part is: its card over the stand, and the list of parts for those who do not point. */
import { getFact } from "../api/client";
import type { Part, Stand } from "../stand/types";
import { byId, make } from "../ui/dom";

export async function showPart(part: Part | null, picked: boolean): Promise<void> {
  const card = byId("part-card");
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
  card.append(` ${part.what}`);
  for (const id of part.facts) {
    const fact = await getFact(id).catch(() => null);
    if (!fact || card.dataset.part !== part.id) continue;
    const link = make("a", { class: `chip chip-${fact.kind}`, href: `/numbers#${id}` }, fact.text);
    card.append(make("span", { class: "part-fact" }, `${fact.claim}: `, link));
  }
}

export function listParts(stand: Stand): void {
  const items = stand.parts().map((part) => {
    const button = make("button", { type: "button", "data-part": part.id, "aria-pressed": "false" }, part.title);
    button.addEventListener("click", () => {
      stand.pick(button.getAttribute("aria-pressed") === "true" ? null : part.id);
      byId<HTMLDetailsElement>("parts-menu").open = false;
    });
    return make("li", {}, button);
  });
  byId("parts").replaceChildren(...items);
}
