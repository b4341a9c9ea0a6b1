/*
 * Chapter 5: the plane that cuts the model on the stand, the lever that opens a stack into its layers, and below them the
 * layers from top to bottom, in section, to pick. That section is a drawing, not to scale.
 */

import { frame, label, rect, responsive } from "../figures/frame";
import { cutText, FIRST_CUT } from "../stand/cut-names";
import type { Cut } from "../stand/types";
import { choice, slider } from "../ui/controls";
import { make, makeSvg } from "../ui/dom";
import type { Touch, TouchContext } from "./context";
import { wirePartList } from "./part-list";

/** One layer of the drawing: left and width as shares, top and height in lines of text. */
interface Layer {
  part: string;
  name: string;
  x: number;
  width: number;
  top: number;
  height: number;
  look: "silicon" | "graphite" | "joint" | "lane" | "green" | "ball";
}

const STACK_TOP = 0.6;
const DIE_TOP = 2.4;
const PLATE_TOP = 7.3;
const LAYERS: readonly Layer[] = [
  { part: "hbm_stack_5", name: "DRAM dies", x: 0.06, width: 0.26, top: STACK_TOP, height: 6, look: "graphite" },
  { part: "gpu_die", name: "GPU die", x: 0.37, width: 0.57, top: DIE_TOP, height: 4.2, look: "silicon" },
  { part: "microbumps", name: "microbumps", x: 0.06, width: 0.88, top: 6.75, height: 0.4, look: "joint" },
  { part: "interposer_lanes", name: "lanes", x: 0.1, width: 0.45, top: PLATE_TOP, height: 0.35, look: "lane" },
  { part: "interposer", name: "interposer", x: 0.03, width: 0.94, top: PLATE_TOP + 0.35, height: 1.5, look: "silicon" },
  { part: "c4_bumps", name: "C4 bumps", x: 0.06, width: 0.88, top: 9.3, height: 0.5, look: "joint" },
  { part: "substrate", name: "substrate", x: 0, width: 1, top: 9.9, height: 2, look: "green" },
  { part: "bga_balls", name: "balls", x: 0.03, width: 0.94, top: 12, height: 0.9, look: "ball" },
];
const DRAM_DIES = 8;
/** Stops of a lever from the middle of the package to its edge. */
const STEPS = 50;

/** The levers of the cut on the stand, in step with the grip on the stand itself. */
function levers(context: TouchContext): HTMLElement {
  const { store } = context;
  let now: Cut | null = null;
  const axis = choice<Cut["axis"] | "none">(
    "Cut the package",
    [
      { value: "z", text: "across the front" },
      { value: "x", text: "from the side" },
      { value: "none", text: "leave it whole" },
    ],
    "none",
    (chosen) => store.set({ cut: chosen === "none" ? chosen : cutText({ axis: chosen, at: FIRST_CUT[chosen] }) }),
  );
  const at = slider("Move the plane", 2 * STEPS, 2 * STEPS, (value) => {
    if (now) store.set({ cut: cutText({ axis: now.axis, at: value / STEPS - 1 }) });
  });
  const open = slider("Open the pile", STEPS, 0, (value) => store.set({ open: value / STEPS }));
  context.onShown((stand) => {
    now = stand.cut ?? null;
    for (const input of axis.querySelectorAll("input")) input.checked = input.value === (now?.axis ?? "none");
    at.input.disabled = !now;
    const place = now?.at ?? 1;
    at.input.value = String(Math.round((place + 1) * STEPS));
    const percent = Math.round(((place + 1) / 2) * 100);
    at.input.setAttribute("aria-valuetext", now ? `${percent} percent of the package stays` : "not cut");
    const share = stand.open ?? 0;
    open.input.value = String(Math.round(share * STEPS));
    open.input.setAttribute("aria-valuetext", share === 0 ? "closed" : `${Math.round(share * 100)} percent open`);
  });
  return make("div", { class: "touch-row" }, axis, at.label, open.label);
}

const cut: Touch = (live, host, context) => {
  const place = make("div", { class: "figure-host" });
  live.append(levers(context), place);
  let held: readonly string[] = [];

  const redraw = responsive(place, () => {
    const drawn = frame(
      place,
      13.4,
      "The package in section",
      "From top to bottom: DRAM dies on a base die, the GPU die beside them, microbumps, lanes, interposer, C4 bumps, substrate, balls. Not to scale.",
    );
    for (const layer of LAYERS) drawn.svg.append(drawLayer(layer, drawn.width, drawn.em));
  });

  function drawLayer(layer: Layer, width: number, em: number): SVGGElement {
    const x = layer.x * width + 1;
    const w = layer.width * width - 2;
    const [y, h] = [layer.top * em, layer.height * em];
    const group = makeSvg("g", { class: `layer layer-${layer.look}${held.includes(layer.part) ? " held" : ""}` });
    if (layer.look === "joint" || layer.look === "ball") {
      const count = Math.max(6, Math.floor(w / (h * 1.8)));
      for (let i = 0; i < count; i++)
        group.append(makeSvg("circle", { cx: x + ((i + 0.5) * w) / count, cy: y + h / 2, r: h / 2 }));
    } else if (layer.look === "graphite") {
      const step = h / (DRAM_DIES + 1);
      for (let i = 0; i <= DRAM_DIES; i++) group.append(rect({ x, y: y + i * step, width: w, height: step - 1.5 }));
    } else group.append(rect({ x, y, width: w, height: h }));
    if (layer.height >= 1.5)
      group.append(label(x + w / 2, y + h / 2 + em * 0.35, layer.name, { anchor: "middle", class: "on-layer" }));
    group.addEventListener("pointerenter", () => context.glance([layer.part]));
    group.addEventListener("pointerleave", () => context.glance(null));
    group.addEventListener("click", () =>
      host.querySelector<HTMLButtonElement>(`li[data-part="${layer.part}"] button`)?.click(),
    );
    return group;
  }

  wirePartList(host, context, context.partsNamed, (parts) => {
    held = parts ?? [];
    redraw();
  });
};

export default cut;
