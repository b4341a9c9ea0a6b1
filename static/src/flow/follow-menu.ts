/* The list of tiles that can be followed, and where the followed one is, in words. Fetched with the first schedule. */

import { whereIs } from "../stand/flow-follow";
import { sideOf } from "../stand/flow-kinds";
import { nameOf, tileNamed, titleOf } from "../stand/tile-names";
import type { Schedule, Tensor } from "../stand/types";
import type { Store } from "../state/store";
import type { ExhibitState } from "../state/types";
import { byId, make } from "../ui/dom";

const ORDER: readonly Tensor[] = ["q", "k", "v", "o", "do", "dq", "dk", "dv"];

export class FollowMenu {
  private listedFor: Schedule | null = null;

  constructor(private readonly store: Store<ExhibitState>) {
    const menu = byId<HTMLSelectElement>("follow");
    menu.addEventListener("change", () => store.set({ follow: menu.value || null }));
  }

  show(schedule: Schedule | null, time: number): void {
    if (schedule && schedule !== this.listedFor) this.list(schedule);
    const followed = tileNamed(this.store.get().follow);
    const menu = byId<HTMLSelectElement>("follow");
    const name = followed ? nameOf(followed) : "";
    // A score block is followed by picking it on the stand or by address: too many of them for a list.
    if (followed && ![...menu.options].some(({ value }) => value === name))
      menu.append(make("option", { value: name }, titleOf(followed)));
    if (menu.value !== name) menu.value = name;
    const where = followed && schedule ? `${titleOf(followed)} ${whereIs(schedule, time, followed).words}.` : "";
    const output = byId("follow-where");
    if (output.textContent !== where) output.textContent = where;
  }

  private list(schedule: Schedule): void {
    this.listedFor = schedule;
    const present = new Set<Tensor>(schedule.moves.map(({ tensor }) => (tensor === "dq_acc" ? "dq" : tensor)));
    const groups = ORDER.filter((tensor) => present.has(tensor)).map((tensor) => {
      const side = sideOf(tensor);
      const count = side === "n" ? schedule.blocks_n : schedule.blocks_m;
      const options = Array.from({ length: count }, (_, i) => {
        const tile = { tensor, m: side === "n" ? -1 : i, n: side === "n" ? i : -1 };
        return make("option", { value: nameOf(tile) }, titleOf(tile));
      });
      return make("optgroup", { label: titleOf({ tensor, m: 0, n: 0 }).slice(0, -1) }, ...options);
    });
    byId("follow").replaceChildren(make("option", { value: "" }, "no tile"), ...groups);
  }
}
