/* The levers and switches around the stand, bound to the store both ways. */
import { cutText, FIRST_CUT } from "../stand/cut-names";
import type { Cut, StandState } from "../stand/types";
import type { Store } from "../state/store";
import type { ExhibitState, Isolate, ThemeName } from "../state/types";
import { byId } from "../ui/dom";

export function wireControls(store: Store<ExhibitState>): void {
  const explode = byId<HTMLInputElement>("explode");
  explode.addEventListener("input", () => store.set({ explode: Number(explode.value) }));
  const labels = byId<HTMLInputElement>("labels");
  labels.checked = store.get().labels;
  labels.addEventListener("change", () => store.set({ labels: labels.checked }));
  const theme = byId<HTMLSelectElement>("theme");
  theme.addEventListener("change", () => store.set({ theme: theme.value as ThemeName }));
  wireLooks(store);
  // On a wide screen the controls are always open; on a narrow one they would cover the text.
  const wide = matchMedia("(min-width: 900px)");
  const panel = byId<HTMLDetailsElement>("stand-panel");
  const follow = () => {
    panel.open = wide.matches;
  };
  wide.addEventListener("change", follow);
  follow();
}

function wireLooks(store: Store<ExhibitState>): void {
  const axis = byId<HTMLSelectElement>("cut-axis");
  const at = byId<HTMLInputElement>("cut-at");
  axis.addEventListener("change", () => {
    const chosen = axis.value as Cut["axis"] | "none";
    store.set({ cut: chosen === "none" ? chosen : cutText({ axis: chosen, at: FIRST_CUT[chosen] }) });
  });
  at.addEventListener("input", () => {
    if (axis.value !== "none") store.set({ cut: `${axis.value}${Number(at.value)}` });
  });
  const open = byId<HTMLInputElement>("open-stack");
  open.addEventListener("input", () => store.set({ open: Number(open.value) }));
  const thickness = byId<HTMLInputElement>("thickness");
  thickness.addEventListener("input", () => store.set({ thickness: Number(thickness.value) }));
  const isolate = byId<HTMLSelectElement>("isolate");
  isolate.addEventListener("change", () => store.set({ isolate: (isolate.value || null) as Isolate | null }));
}

/** Puts every lever where the stand is told to be. `factor`: how many times too tall the model draws; null: not known yet. */
export function showLevers(stand: StandState, factor: number | null): void {
  const { explode, cut, open = 0, thickness = 1, isolate } = stand;
  lever("explode", explode, explode === 0 ? "assembled" : `${Math.round(explode * 100)} percent apart`);
  byId<HTMLSelectElement>("cut-axis").value = cut?.axis ?? "none";
  byId<HTMLInputElement>("cut-at").disabled = !cut;
  const place = Math.round((cut?.at ?? 1) * 100);
  lever("cut-at", cut?.at ?? 1, cut ? `${place} percent of the way from the middle to the edge` : "no cut");
  lever("open-stack", open, open === 0 ? "closed" : `${Math.round(open * 100)} percent open`);
  const times = factor === null ? null : Number((1 + (factor - 1) * thickness).toFixed(1));
  lever("thickness", thickness, times === 1 ? "true thickness" : times ? `drawn ${times} times too tall` : "as drawn");
  byId("thickness-factor").textContent = times ? `×${times}` : "";
  byId<HTMLSelectElement>("isolate").value = isolate ?? "";
}

function lever(id: string, value: number, text: string): void {
  const input = byId<HTMLInputElement>(id);
  input.value = String(value);
  input.setAttribute("aria-valuetext", text);
}
