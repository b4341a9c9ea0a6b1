/*
 * Finds the things to touch and brings each to life when its chapter comes near: its module is loaded then, not before.
 * Until then, and without a script, the page shows its tables.
 */
import "../../styles/touch-figures.css";
import type { Touch, TouchContext } from "./context";

const MODULES: Readonly<Record<string, () => Promise<{ default: Touch }>>> = {
  parts: () => import("./parts"),
  ladder: () => import("./ladder"),
  roofline: () => import("./roofline"),
  "round-trip": () => import("./round-trip"),
  cut: () => import("./cut"),
  sm: () => import("./sm"),
  blocks: () => import("./blocks"),
  softmax: () => import("./softmax"),
  recompute: () => import("./recompute"),
  series: () => import("./series"),
  versions: () => import("./versions"),
  exactness: () => import("./exactness"),
  pieces: () => import("./pieces"),
};

export class Touches {
  private readonly begun = new Set<HTMLElement>();

  constructor(private readonly context: TouchContext) {}

  watch(): void {
    const near = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) if (entry.isIntersecting) this.prepare(entry.target as HTMLElement);
      },
      { rootMargin: "80% 0px" },
    );
    for (const host of document.querySelectorAll<HTMLElement>(".touch-host[data-touch]")) near.observe(host);
  }

  /** Brings one touch to life now. */
  prepare(host: HTMLElement): void {
    const load = MODULES[host.dataset.touch ?? ""];
    if (!load || this.begun.has(host)) return;
    this.begun.add(host);
    const live = host.querySelector<HTMLElement>(".touch-live");
    if (!live) return;
    load()
      .then(({ default: touch }) => {
        touch(live, host, this.context);
        host.dataset.ready = "true";
      })
      .catch((error: unknown) => {
        console.warn(`The touch ${host.dataset.touch} cannot be shown:`, error);
        for (const fold of host.querySelectorAll<HTMLDetailsElement>("details.behind")) fold.open = true;
      });
  }
}
