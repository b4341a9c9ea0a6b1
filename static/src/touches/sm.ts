/*
 * Chapter 6: the die as a block diagram. A cluster opens into its SMs, an SM into its four quarters, here and on the
 * stand. Counts come from the table below; which SMs of which cluster are unused is not published, so none is drawn as unused.
 */
import { rowsOf, type TableRow, tableIn } from "../figures/table-data";
import { button } from "../ui/controls";
import { make } from "../ui/dom";
import type { Touch } from "./context";

const sm: Touch = (live, host, context) => {
  const die = Object.fromEntries(rowsOf(tableIn(host, ".die-table")).map((row) => [row.id, row]));
  const inside = Object.fromEntries(rowsOf(tableIn(host, ".sm-table")).map((row) => [row.id, row]));
  const built = (row: TableRow | undefined) => row?.cells.built?.value ?? 0;
  const gpcs = built(die.gpc);
  const perGpc = built(die.sm) / gpcs;
  const quarters = built(inside.tensor);
  const crumbs = make("nav", { class: "touch-row crumbs", "aria-label": "Where in the die" });
  const place = make("div", { class: "die-diagram" });
  const said = make("p", { class: "touch-said", role: "status" });
  live.append(crumbs, place, said);
  showDie(false);

  function showDie(focus = true): void {
    if (focus) context.store.set({ die: null });
    context.light(null);
    crumbs.replaceChildren(make("strong", {}, "Die"));
    const clusters = range(gpcs).map((index) => {
      const cells = range(perGpc).map(() => make("i", {}));
      const made = button("", () => showCluster(index), `Cluster ${index + 1}, ${perGpc} SMs`);
      made.className = "gpc";
      made.append(
        make("span", {}, `GPC ${index + 1}`),
        make("span", { class: "cells", "aria-hidden": "true" }, ...cells),
      );
      made.addEventListener("pointerenter", (event) => event.pointerType !== "touch" && context.glance(["gpc"]));
      made.addEventListener("pointerleave", () => context.glance(null));
      return made;
    });
    const controllers = built(die.controller);
    const side = () =>
      make("div", { class: "controllers", "aria-hidden": "true" }, ...range(controllers / 2).map(() => make("i", {})));
    const l2 = make("div", { class: "l2-band" }, "L2 cache, two halves");
    const half = gpcs / 2;
    place.className = "die-diagram whole";
    place.replaceChildren(
      side(),
      make(
        "div",
        { class: "die-middle" },
        make("div", { class: "gpcs" }, ...clusters.slice(0, half)),
        l2,
        make("div", { class: "gpcs" }, ...clusters.slice(half)),
      ),
      side(),
    );
    said.textContent = `${die.gpc?.cells.built?.text} with ${perGpc} SMs each are built, ${die.sm?.cells.used?.text} are in use; which ones is not published. Along the sides ${die.controller?.cells.built?.text} for memory, ${die.controller?.cells.used?.text} in use.`;
    if (focus) clusters[0]?.focus();
  }

  function showCluster(index: number): void {
    context.store.set({ die: `gpc_${index}` });
    context.light(["gpc"]);
    crumbs.replaceChildren(
      button("Die", () => showDie()),
      make("strong", {}, `Cluster ${index + 1}`),
    );
    const units = range(perGpc).map((unit) => {
      const made = button(`SM ${unit + 1}`, () => showSm(index, unit), `SM ${unit + 1} of cluster ${index + 1}`);
      made.className = "sm";
      return made;
    });
    place.className = "die-diagram cluster";
    place.replaceChildren(...units);
    said.textContent = `Cluster ${index + 1}: ${perGpc} SMs, two to a texture processing cluster (TPC). Pick one.`;
    units[0]?.focus();
  }

  function showSm(cluster: number, unit: number): void {
    context.store.set({ die: `sm_${cluster * perGpc + unit}` });
    context.light(["sm"]);
    const back = button(`Cluster ${cluster + 1}`, () => showCluster(cluster));
    crumbs.replaceChildren(
      button("Die", () => showDie()),
      back,
      make("strong", {}, `SM ${unit + 1}`),
    );
    const parts = range(quarters).map((quarter) =>
      make(
        "div",
        { class: "quarter" },
        make("strong", {}, `Quarter ${quarter + 1}`),
        make("div", { class: "unit tensor-core" }, "tensor core"),
        make("div", { class: "unit" }, `registers ${inside.registers?.cells.built?.text}`),
      ),
    );
    const shared = `shared memory and L1, ${inside.l1?.cells.built?.text}; up to ${inside.smem?.cells.built?.text} shared`;
    place.className = "die-diagram inside";
    place.replaceChildren(...parts, make("div", { class: "unit shared" }, shared));
    said.textContent = `One SM: ${quarters} quarters, each with one tensor core and its own registers, and one memory that all of them share.`;
    back.focus();
  }
};

function range(count: number): number[] {
  return [...Array(Math.max(0, Math.round(count))).keys()];
}

export default sm;
