/*
 * The laboratory's controls. Moving the lever asks nothing: one sweep per setting holds every stop. A typed length that
 * is no stop is asked for by itself. When the server is gone the last answer stays, marked as such.
 */
import { ApiError, getSweep, getTraffic, type Setting } from "../api/client";
import type { SweepAnswer, TrafficAnswer } from "../api/schema.gen";
import type { Store } from "../state/store";
import type { Choices, ExhibitState, Gpu } from "../state/types";
import { byId, make } from "../ui/dom";
import { whole } from "../ui/format";
import { readouts } from "./readouts";

export class Lab {
  private sweep: SweepAnswer | null = null;
  private sweepOf = "";
  private asking: AbortController | null = null;
  private shown = "";
  private opened = false;

  constructor(
    private readonly store: Store<ExhibitState>,
    private readonly choices: Choices,
    private readonly answered: (answer: TrafficAnswer) => void,
  ) {
    this.wire();
  }

  /** Asks for the first answer; until then nothing has been asked, so that the stand's first frame need not wait. */
  open(): void {
    if (this.opened) return;
    this.opened = true;
    this.store.subscribe(() => void this.refresh());
    void this.refresh();
  }

  /** Says something about the address or the server beside the controls. */
  note(...content: (Node | string)[]): void {
    byId("lab-note").replaceChildren(...content);
  }

  private wire(): void {
    const lever = byId<HTMLInputElement>("seqlen");
    lever.addEventListener("input", () => {
      const seqlen = this.choices.seqlens[Number(lever.value)];
      if (seqlen !== undefined) this.store.set({ seqlen });
    });
    // Page keys move an octave; the browser's own page step differs from one to the next.
    lever.addEventListener("keydown", (event) => {
      const direction = event.key === "PageUp" ? 1 : event.key === "PageDown" ? -1 : 0;
      if (!direction) return;
      event.preventDefault();
      const octave = this.choices.seqlens.filter((n) => n < 2 * (this.choices.seqlens[0] ?? 1)).length;
      lever.value = String(Number(lever.value) + direction * octave);
      lever.dispatchEvent(new Event("input", { bubbles: true }));
    });
    const typed = byId<HTMLInputElement>("seqlen-typed");
    typed.addEventListener("change", () => {
      const seqlen = typed.valueAsNumber;
      if (Number.isInteger(seqlen) && seqlen >= Number(typed.min) && seqlen <= Number(typed.max)) {
        this.note();
        this.store.set({ seqlen });
      } else {
        this.note(`N is a whole number from ${typed.min} to ${whole(Number(typed.max))}; the last one stays.`);
        typed.value = String(this.store.get().seqlen);
      }
    });
    for (const [id, key] of [
      ["head_dim", "headDim"],
      ["block_m", "blockM"],
      ["block_n", "blockN"],
    ] as const) {
      const select = byId<HTMLSelectElement>(id);
      select.addEventListener("change", () => this.store.set({ [key]: Number(select.value) }));
    }
    const gpu = byId<HTMLSelectElement>("gpu");
    gpu.addEventListener("change", () => this.store.set({ gpu: gpu.value as Gpu }));
    const causal = byId<HTMLInputElement>("causal");
    causal.addEventListener("change", () => this.store.set({ causal: causal.checked }));
    byId("lab-form").addEventListener("submit", (event) => event.preventDefault());
  }

  private async refresh(): Promise<void> {
    const state = this.store.get();
    this.showControls(state);
    const setting: Setting = {
      head_dim: state.headDim,
      block_m: state.blockM,
      block_n: state.blockN,
      causal: state.causal,
      gpu: state.gpu,
    };
    const stop = this.choices.seqlens.indexOf(state.seqlen);
    const wanted = JSON.stringify([setting, stop < 0 ? state.seqlen : null]);
    if (stop >= 0 && this.sweep && this.sweepOf === wanted) {
      this.show(this.sweep.points[stop] as TrafficAnswer);
      return;
    }
    this.asking?.abort();
    this.asking = new AbortController();
    const signal = this.asking.signal;
    byId("readouts").setAttribute("aria-busy", "true");
    try {
      if (stop < 0) this.show(await getTraffic({ ...setting, seqlen: state.seqlen }, signal));
      else {
        const sweep = await getSweep(setting, signal);
        if (signal.aborted) return;
        this.sweep = sweep;
        this.sweepOf = wanted;
        // The lever may have moved on while the answer came.
        const at = this.choices.seqlens.indexOf(this.store.get().seqlen);
        this.show(sweep.points[at < 0 ? stop : at] as TrafficAnswer);
      }
    } catch (error) {
      if (!signal.aborted) this.failed(error);
    }
  }

  private failed(error: unknown): void {
    const retry = make("button", { type: "button" }, "Try again");
    retry.addEventListener("click", () => {
      this.note();
      void this.refresh();
    });
    const message = error instanceof ApiError ? error.message : "The counts could not be loaded.";
    const stale = this.shown ? ` The readouts below are still those of ${this.shown}. ` : " ";
    this.note(message, stale, retry);
  }

  private show(answer: TrafficAnswer): void {
    const panel = byId("readouts");
    const open = panel.querySelector<HTMLDetailsElement>(".by-tensor")?.open ?? false;
    panel.replaceChildren(...readouts(answer));
    const fold = panel.querySelector<HTMLDetailsElement>(".by-tensor");
    if (fold) fold.open = open;
    panel.setAttribute("aria-busy", "false");
    this.shown = `N = ${whole(answer.shape.seqlen ?? 0)}, d = ${answer.shape.head_dim}`;
    if (byId("lab-note").querySelector("button")) this.note();
    this.answered(answer);
  }

  private showControls(state: Readonly<ExhibitState>): void {
    const { seqlens } = this.choices;
    const at = seqlens.findLastIndex((stop) => stop <= state.seqlen);
    const lever = byId<HTMLInputElement>("seqlen");
    lever.value = String(Math.max(0, at));
    lever.setAttribute("aria-valuetext", `${whole(state.seqlen)} tokens`);
    byId("seqlen-shown").textContent = whole(state.seqlen);
    byId<HTMLInputElement>("seqlen-typed").value = String(state.seqlen);
    byId<HTMLSelectElement>("head_dim").value = String(state.headDim);
    byId<HTMLSelectElement>("block_m").value = String(state.blockM);
    byId<HTMLSelectElement>("block_n").value = String(state.blockN);
    byId<HTMLSelectElement>("gpu").value = state.gpu;
    byId<HTMLInputElement>("causal").checked = state.causal;
  }
}
