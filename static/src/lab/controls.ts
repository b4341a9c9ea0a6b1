/* Lever and settings: what the reader does goes into the store, what the store holds is shown. */
import { labOf } from "../state/setting";
import type { Store } from "../state/store";
import type { Choices, ExhibitState, Setting } from "../state/types";
import { decode } from "../state/url";
import { byId } from "../ui/dom";
import { whole } from "../ui/format";

/** A select, the key of the setting it stands for, and how its text becomes a value. */
const SELECTS: readonly { id: string; key: keyof Setting; value: (text: string) => unknown }[] = [
  { id: "head_dim", key: "headDim", value: Number },
  { id: "block_m", key: "blockM", value: Number },
  { id: "block_n", key: "blockN", value: Number },
  { id: "direction", key: "direction", value: String },
  { id: "causal", key: "causal", value: (text) => text === "1" },
  { id: "dtype", key: "dtype", value: String },
  { id: "num_heads", key: "numHeads", value: Number },
  { id: "num_heads_kv", key: "numHeadsKv", value: (text) => (text ? Number(text) : null) },
  { id: "batch", key: "batch", value: Number },
  { id: "gpu", key: "gpu", value: String },
];
const STOPS_PER_OCTAVE = 4;

export class Controls {
  private readonly lever = byId<HTMLInputElement>("seqlen");
  private readonly typed = byId<HTMLInputElement>("seqlen-typed");
  private readonly shown = byId("seqlen-shown");
  private seqlen = 0;

  constructor(
    private readonly store: Store<ExhibitState>,
    private readonly choices: Choices,
    private readonly note: (text: string) => void,
  ) {
    this.lever.addEventListener("input", () => this.to(Number(this.lever.value)));
    // Page keys move an octave; the browser's own page step differs from one to the next.
    this.lever.addEventListener("keydown", (event) => {
      const octaves = { PageUp: 1, PageDown: -1 }[event.key];
      if (!octaves) return;
      event.preventDefault();
      this.by(octaves * STOPS_PER_OCTAVE);
    });
    this.typed.addEventListener("change", () => this.take());
    for (const { id, key, value } of SELECTS) {
      const select = byId<HTMLSelectElement>(id);
      select.addEventListener("change", () => this.change({ [key]: value(select.value) }));
    }
    byId("lab-form").addEventListener("submit", (event) => event.preventDefault());
    for (const link of document.querySelectorAll<HTMLAnchorElement>("a.preset"))
      link.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        this.open(link.search);
      });
  }

  /** Moves the lever by whole stops. */
  by(stops: number): void {
    this.to(Number(this.lever.value) + stops);
  }

  to(stop: number): void {
    const { seqlens } = this.choices;
    const seqlen = seqlens[Math.min(seqlens.length - 1, Math.max(0, stop))];
    if (seqlen !== undefined) this.store.set({ seqlen });
  }

  /** The stop nearest to a length, by ratio. */
  toward(seqlen: number): void {
    const off = (stop: number): number => Math.abs(Math.log(stop / seqlen));
    const { seqlens } = this.choices;
    this.to(seqlens.reduce((best, stop, at) => (off(stop) < off(seqlens[best] as number) ? at : best), 0));
  }

  show(state: Readonly<ExhibitState>): void {
    if (state.seqlen !== this.seqlen) {
      this.seqlen = state.seqlen;
      const text = whole(state.seqlen);
      this.lever.value = String(
        Math.max(
          0,
          this.choices.seqlens.findLastIndex((stop) => stop <= state.seqlen),
        ),
      );
      this.lever.setAttribute("aria-valuetext", `${text} tokens`);
      this.shown.textContent = text;
      this.typed.value = String(state.seqlen);
    }
    for (const { id, key } of SELECTS) {
      const select = byId<HTMLSelectElement>(id);
      const value = state[key];
      const text = value === null ? "" : typeof value === "boolean" ? String(Number(value)) : String(value);
      if (select.value !== text) select.value = text;
    }
    for (const option of byId<HTMLSelectElement>("num_heads_kv").options)
      option.disabled =
        option.value !== "" && (state.numHeads % Number(option.value) !== 0 || Number(option.value) === state.numHeads);
  }

  private take(): void {
    const { typed } = this;
    const seqlen = typed.valueAsNumber;
    if (Number.isInteger(seqlen) && seqlen >= Number(typed.min) && seqlen <= Number(typed.max)) {
      this.note("");
      this.store.set({ seqlen });
    } else {
      this.note(`N is a whole number from ${typed.min} to ${whole(Number(typed.max))}; the last one stays.`);
      typed.value = String(this.store.get().seqlen);
    }
  }

  private change(patch: Partial<Setting>): void {
    const { numHeads, numHeadsKv } = { ...this.store.get(), ...patch };
    const shared = numHeadsKv === null || (numHeads % numHeadsKv === 0 && numHeadsKv < numHeads);
    this.store.set(shared ? patch : { ...patch, numHeadsKv: null });
  }

  /** A named setting: its address, without what does not belong to the laboratory. */
  open(search: string): void {
    const { state } = decode(search, this.choices);
    this.note("");
    this.store.set(labOf(state));
  }
}
