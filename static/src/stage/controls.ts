/* The levers and switches around the stand, bound to the store both ways. */
import type { Store } from "../state/store";
import type { ExhibitState, ThemeName } from "../state/types";
import { byId } from "../ui/dom";

export function wireControls(store: Store<ExhibitState>): void {
  const explode = byId<HTMLInputElement>("explode");
  explode.addEventListener("input", () => store.set({ explode: Number(explode.value) }));
  const labels = byId<HTMLInputElement>("labels");
  labels.checked = store.get().labels;
  labels.addEventListener("change", () => store.set({ labels: labels.checked }));
  const theme = byId<HTMLSelectElement>("theme");
  theme.addEventListener("change", () => store.set({ theme: theme.value as ThemeName }));
  // On a wide screen the controls are always open; on a narrow one they would cover the text.
  const wide = matchMedia("(min-width: 900px)");
  const panel = byId<HTMLDetailsElement>("stand-panel");
  const follow = () => {
    panel.open = wide.matches;
  };
  wide.addEventListener("change", follow);
  follow();
}

export function showLevers(explode: number): void {
  const lever = byId<HTMLInputElement>("explode");
  lever.value = String(explode);
  lever.setAttribute("aria-valuetext", explode === 0 ? "assembled" : `${Math.round(explode * 100)} percent apart`);
}
