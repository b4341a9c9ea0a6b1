/* The switch that raises the block diagram, and the choice of a cluster, a pair or an SM on it without pointing. */
import type { DiePick, StandState } from "../stand/types";
import type { Store } from "../state/store";
import type { ExhibitState } from "../state/types";
import { byId } from "../ui/dom";

type Kind = DiePick["kind"];

/** `count`: how many of a kind the die has; null while the model is not there. Returns what puts the controls in step. */
export function wireDie(
  store: Store<ExhibitState>,
  count: (kind: Kind) => number | null,
): (stand: Pick<StandState, "plaque" | "die">) => void {
  const plaque = byId<HTMLInputElement>("plaque");
  const kind = byId<HTMLSelectElement>("die-kind");
  const index = byId<HTMLInputElement>("die-index");
  plaque.addEventListener("change", () => store.set({ plaque: plaque.checked }));
  const choose = () => {
    if (!kind.value) {
      store.set({ die: null });
      return;
    }
    const most = count(kind.value as Kind) ?? 1;
    const number = Math.min(most, Math.max(1, Math.round(Number(index.value)) || 1));
    index.value = String(number);
    store.set({ die: `${kind.value}_${number - 1}` });
  };
  kind.addEventListener("change", choose);
  index.addEventListener("change", choose);
  return ({ plaque: raised, die }) => {
    plaque.checked = raised ?? false;
    kind.value = die?.kind ?? "";
    index.disabled = !die;
    if (!die) return;
    index.value = String(die.index + 1);
    index.max = String(count(die.kind) ?? "");
  };
}
