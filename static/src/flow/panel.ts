/*
 * The controls under the stand that make tiles fly: whose tiles, play, step, scrub, and the two tallies. The schedule
 * and its sums come from the server; the tally adds up the bytes of the moves that have happened.
 */
import { ApiError, getSchedule } from "../api/client";
import type { ScheduleAnswer } from "../api/schema.gen";
import { tallyAt } from "../stand/flow";
import type { Flow, Schedule } from "../stand/types";
import type { Store } from "../state/store";
import type { Algorithm, ExhibitState } from "../state/types";
import { byId } from "../ui/dom";
import { decimalBytes, whole } from "../ui/format";
import type { FlowControl, FlowMoment } from "./control";
import { Player, type PlayerView, STEPS_PER_SECOND } from "./player";

export interface Scene {
  /** Whose tiles the chapter shows; "none" for none. */
  algorithm: Algorithm;
  blocksM: number;
  blocksN: number;
  /** Share of the schedule to stand at, where the place in the story asks for one. */
  moment?: number | null;
  /** The laboratory's whole setting goes along: its own blocks (blocksM and blocksN are then the most drawn), pass and heads. */
  whole?: boolean;
}

/** Where a chapter's flow stands before anybody plays it: under way, so that the still picture shows it. */
const TELLING_MOMENT = 0.42;

/** What to see, by pass: the chapter about the backward pass still shows forward tiles, so the pass is always named. */
const NOTES: Record<"forward" | "backward", Record<Schedule["algorithm"], string>> = {
  forward: {
    standard: "Forward: the score blocks S and P go out to the stacks and come back.",
    fa2: "Forward: each score block lives and dies on its SM; only O goes back.",
  },
  backward: {
    standard: "Backward: P comes from the stacks; dP and dS go out and come back.",
    fa2: "Backward: each score block is made again on its SM; dQ is added up in memory, dK and dV go back.",
  },
};

export class FlowPanel implements FlowControl {
  private readonly player: Player;
  private answer: ScheduleAnswer | null = null;
  private asking: AbortController | null = null;
  private scene: Scene = { algorithm: "none", blocksM: 8, blocksN: 8 };
  private asked = "";
  private readonly listeners = new Set<(moment: FlowMoment) => void>();

  constructor(
    private readonly store: Store<ExhibitState>,
    private readonly show: (flow: Flow | null, answer: ScheduleAnswer | null) => void,
  ) {
    this.player = new Player((view) => this.draw(view));
    byId("play").addEventListener("click", () => (this.player.view.playing ? this.player.pause() : this.player.play()));
    byId("step-back").addEventListener("click", () => this.player.step(-1));
    byId("step-forward").addEventListener("click", () => this.player.step(1));
    byId<HTMLInputElement>("scrub").addEventListener("input", (event) =>
      this.seek(Number((event.target as HTMLInputElement).value)),
    );
    for (const input of document.querySelectorAll<HTMLInputElement>('input[name="algorithm"]'))
      input.addEventListener("change", () => this.choose(input.value as Algorithm));
    this.draw(this.player.view);
  }

  /** The chapter's wish; the reader's own choice, where there is one, goes before it. */
  setScene(scene: Scene): void {
    this.scene = scene;
    const { answer } = this;
    void this.refresh();
    // Another step of the same schedule: only the moment changes.
    if (this.answer === answer && answer && typeof scene.moment === "number" && this.store.get().t === null)
      this.player.seek(Math.round(scene.moment * answer.num_steps));
  }

  get moment(): FlowMoment {
    return { answer: this.answer, ...this.player.view };
  }

  subscribe(listener: (moment: FlowMoment) => void): () => void {
    this.listeners.add(listener);
    listener(this.moment);
    return () => this.listeners.delete(listener);
  }

  choose(algorithm: Algorithm): void {
    this.store.set({ algorithm, moment: null });
  }

  play(): void {
    this.player.play();
  }

  pause(): void {
    this.player.pause();
  }

  step(direction: 1 | -1): void {
    this.player.step(direction);
  }

  seek(time: number): void {
    this.player.pause();
    this.player.seek(time);
  }

  async refresh(): Promise<void> {
    const { algorithm: chosen, seqlen, headDim, causal, moment, t } = this.store.get();
    const algorithm = chosen ?? this.scene.algorithm;
    const radio = document.querySelector<HTMLInputElement>(`input[name="algorithm"][value="${algorithm}"]`);
    if (radio) radio.checked = true;
    const { blocksM, blocksN, whole: wholeSetting } = this.scene;
    const more: Record<string, string | number> = {};
    if (wholeSetting) {
      const { blockM, blockN, direction, dtype, batch, numHeads, numHeadsKv } = this.store.get();
      Object.assign(more, { block_m: blockM, block_n: blockN, direction, dtype, batch, num_heads: numHeads });
      if (numHeadsKv !== null) more.num_heads_kv = numHeadsKv;
    }
    const asked = JSON.stringify([algorithm, seqlen, headDim, causal, blocksM, blocksN, more]);
    if (asked === this.asked) return;
    this.asked = asked;
    this.asking?.abort();
    if (algorithm === "none") {
      this.take(null, 0);
      return;
    }
    this.asking = new AbortController();
    const signal = this.asking.signal;
    const question = { algorithm, seqlen, head_dim: headDim, causal, blocks_m: blocksM, blocks_n: blocksN, ...more };
    try {
      const answer = await getSchedule(question, signal);
      if (signal.aborted) return;
      const before = this.player.view;
      const kept =
        this.answer?.algorithm === answer.algorithm && before.length > 0 ? before.time / before.length : null;
      this.take(answer, t ?? moment ?? this.scene.moment ?? kept ?? TELLING_MOMENT);
    } catch (error) {
      if (signal.aborted) return;
      this.asked = "";
      this.take(null, 0);
      byId("flow-note").textContent = error instanceof ApiError ? error.message : "The tiles could not be loaded.";
      byId("stand-panel").classList.add("has-flow");
    }
  }

  private take(answer: ScheduleAnswer | null, share: number): void {
    this.answer = answer;
    byId("stand-panel").classList.toggle("has-flow", answer !== null);
    if (answer) {
      const scrub = byId<HTMLInputElement>("scrub");
      scrub.max = String(answer.num_steps);
      byId("sum-hbm").textContent = decimalBytes(answer.sums.hbm?.total_bytes ?? 0);
      byId("sum-l2").textContent = decimalBytes(answer.sums.l2_to_sm?.total_bytes ?? 0);
      byId("flow-note").textContent =
        `${NOTES[answer.direction][answer.algorithm as Schedule["algorithm"]]} ${answer.heads === 1 ? "One head" : `${whole(answer.heads)} heads`}, N = ${whole(answer.seqlen)}, d = ${answer.head_dim}, drawn as ` +
        `${answer.blocks_m} × ${answer.blocks_n} blocks of ${whole(answer.block_m)} × ${whole(answer.block_n)} rows. Counted.`;
    }
    const grid = answer ? (answer.blocks_m * answer.blocks_n) / 64 : 1;
    const length = answer?.num_steps ?? 0;
    const steps = this.store.get().t === null ? Math.round(share * length) : share * length;
    this.player.load(length, steps, STEPS_PER_SECOND * Math.max(1, grid));
  }

  private draw(view: PlayerView): void {
    for (const listener of this.listeners) listener(this.moment);
    const answer = this.answer;
    const fixed = this.store.get().t !== null;
    const play = byId<HTMLButtonElement>("play");
    play.textContent = view.playing ? "Pause" : "Play";
    play.setAttribute("aria-pressed", String(view.playing));
    for (const id of ["play", "step-back", "step-forward"]) byId<HTMLButtonElement>(id).disabled = !answer || fixed;
    if (!answer) {
      this.show(null, null);
      return;
    }
    const scrub = byId<HTMLInputElement>("scrub");
    scrub.value = String(view.time);
    const moment = `step ${Math.floor(view.time)} of ${view.length}`;
    scrub.setAttribute("aria-valuetext", moment);
    byId("moment").textContent = moment;
    const schedule = answer as Schedule;
    const tally = tallyAt(schedule, view.time);
    for (const [id, line] of [
      ["tally-hbm", tally.hbm],
      ["tally-l2", tally.l2_to_sm],
    ] as const) {
      const bytes = line.read_bytes + line.written_bytes;
      const output = byId(id);
      output.textContent = decimalBytes(bytes);
      output.dataset.bytes = String(bytes);
    }
    this.show({ schedule, time: view.time }, answer);
  }
}
