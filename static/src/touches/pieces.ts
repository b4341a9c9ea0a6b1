/* Chapter 13: the explode lever, from assembled to apart, and the five pieces to isolate. */
import type { Isolate } from "../state/types";
import { button, slider } from "../ui/controls";
import type { Touch } from "./context";
import { wirePartList } from "./part-list";

const STEPS = 20;
/** What the stand shows alone, by the first part of a piece. The base always stays, so it is only lit. */
const ISOLATES: Readonly<Record<string, Isolate>> = {
  hbm_stack_0: "hbm",
  gpu_die: "gpu_die",
  interposer: "interposer",
  substrate: "substrate",
};

const pieces: Touch = (live, host, context) => {
  const { store } = context;
  const lever = slider("Explode", STEPS, STEPS, (value) => store.set({ explode: value / STEPS }));
  const show = () => {
    // Left to the chapter, the pieces of this one are apart.
    const share = store.get().explode ?? 1;
    lever.input.value = String(Math.round(share * STEPS));
    lever.input.setAttribute("aria-valuetext", share === 0 ? "assembled" : `${Math.round(share * 100)} percent apart`);
  };
  store.subscribe((now, before) => now.explode !== before.explode && show());
  show();
  const ends = [
    button("Assemble", () => store.set({ explode: 0 })),
    button("Take apart", () => store.set({ explode: 1 })),
  ];
  const row = document.createElement("div");
  row.className = "touch-row";
  row.append(lever.label, ...ends);
  live.append(row);
  wirePartList(host, context, context.partsNamed, (parts) =>
    store.set({ isolate: ISOLATES[parts?.[0] ?? ""] ?? null }),
  );
  context.onPicked((part) => part === null && store.set({ isolate: null }));
};

export default pieces;
