/*
 * The controls under the stand that make tiles fly: whose tiles, which pass, side by side or alone, one SM after the
 * other or all at once, play, step, scrub, and the two tallies. Schedules and their sums come from the server; a tally
 * adds up the bytes of the moves that have happened.
 */
import { ApiError, getSchedule } from "../api/client";
import type { ScheduleAnswer } from "../api/schema.gen";
import type { Flow, Schedule } from "../stand/types";
import type { Store } from "../state/store";
import type { Algorithm, Direction, ExhibitState } from "../state/types";
import { byId } from "../ui/dom";
import { type Choice, choiceOf, type Scene } from "./choice";
import type { FlowControl, FlowMoment } from "./control";
import type { FollowMenu } from "./follow-menu";
import { Player, type PlayerView, STEPS_PER_SECOND } from "./player";
import { showSums, showTallies } from "./tallies";

export type { Scene } from "./choice";

/** Where a chapter's flow stands before anybody plays it: under way, so that the still picture shows it. */
const TELLING_MOMENT = 0.42;
/** Side by side, before the shorter one is done. */
const TELLING_TWIN = 0.22;
/** With every SM at work a step shows a whole column of blocks and needs longer to be read. */
const AT_ONCE_PACE = 0.2;
/** The eye goes along with a tile more slowly than it watches a board of them. */
const FOLLOWING_PACE = 0.15;

/** What is shown: one flow, or two on one clock; the answer is the first one's. */
export type ShowFlow = (flow: Flow | null, answer: ScheduleAnswer | null, twin: Flow | null) => void;

export class FlowPanel implements FlowControl {
  private readonly player: Player;
  /** Fetched with the first schedule: what is said about it, and the list of its tiles. */
  private followMenu: FollowMenu | null = null;
  private answers: readonly ScheduleAnswer[] = [];
  private schedules: readonly Schedule[] = [];
  private asking: AbortController | null = null;
  private scene: Scene = { algorithm: "none", blocksM: 8, blocksN: 8 };
  private asked = "";
  private readonly listeners = new Set<(moment: FlowMoment) => void>();

  constructor(
    private readonly store: Store<ExhibitState>,
    private readonly show: ShowFlow,
  ) {
    this.player = new Player((view) => this.draw(view));
    byId("play").addEventListener("click", () => (this.player.view.playing ? this.player.pause() : this.player.play()));
    byId("step-back").addEventListener("click", () => this.player.step(-1));
    byId("step-forward").addEventListener("click", () => this.player.step(1));
    byId<HTMLInputElement>("scrub").addEventListener("input", (event) =>
      this.seek(Number((event.target as HTMLInputElement).value)),
    );
    for (const input of radios("algorithm"))
      input.addEventListener("change", () => this.choose(input.value as Algorithm));
    for (const input of radios("direction"))
      input.addEventListener("change", () => this.choose(this.choice.algorithm, input.value as Direction));
    for (const name of ["twin", "parallel"] as const) {
      const box = byId<HTMLInputElement>(name);
      box.addEventListener("change", () => store.set({ [name]: box.checked }));
    }
    this.draw(this.player.view);
  }

  /** The chapter's wish; the reader's own choice, where there is one, goes before it. */
  setScene(scene: Scene): void {
    this.scene = scene;
    const [answer] = this.answers;
    void this.refresh();
    // Another step of the same schedule: only the moment changes.
    if (answer && this.answers[0] === answer && typeof scene.moment === "number" && this.store.get().t === null)
      this.player.seek(Math.round(scene.moment * this.player.view.length));
  }

  get moment(): FlowMoment {
    return { answer: this.answers[0] ?? null, ...this.player.view };
  }

  subscribe(listener: (moment: FlowMoment) => void): () => void {
    this.listeners.add(listener);
    listener(this.moment);
    return () => this.listeners.delete(listener);
  }

  choose(algorithm: Algorithm, direction: Direction = this.choice.direction): void {
    this.store.set({ algorithm, direction, moment: null });
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
    const { seqlen, headDim, causal, moment, t, twin, parallel, follow } = this.store.get();
    const choice = this.choice;
    tick("algorithm", choice.algorithm);
    tick("direction", choice.direction);
    byId<HTMLInputElement>("twin").checked = twin;
    byId<HTMLInputElement>("parallel").checked = parallel;
    this.player.pace = this.pace(parallel, follow !== null);
    const { blocksM, blocksN } = this.scene;
    const question = {
      seqlen,
      head_dim: headDim,
      causal,
      blocks_m: blocksM,
      blocks_n: blocksN,
      ...this.wholeSetting(),
    };
    const asked = JSON.stringify([choice.shown, choice.direction, parallel, question]);
    if (asked === this.asked) {
      this.followMenu?.show(this.schedules[0] ?? null, this.player.view.time);
      return;
    }
    this.asked = asked;
    this.asking?.abort();
    if (choice.shown.length === 0) {
      this.take([], [], 0);
      return;
    }
    this.asking = new AbortController();
    const signal = this.asking.signal;
    try {
      const answers = await Promise.all(
        choice.shown.map((algorithm) => getSchedule({ algorithm, direction: choice.direction, ...question }, signal)),
      );
      const schedules = await arranged(answers, parallel);
      if (signal.aborted) return;
      const before = this.player.view;
      const same =
        this.answers.length === answers.length &&
        this.answers[0]?.algorithm === answers[0]?.algorithm &&
        this.answers[0]?.direction === choice.direction;
      const kept = same && before.length > 0 ? before.time / before.length : null;
      this.take(
        answers,
        schedules,
        t ?? moment ?? this.scene.moment ?? kept ?? (choice.shown.length > 1 ? TELLING_TWIN : TELLING_MOMENT),
      );
    } catch (error) {
      if (signal.aborted) return;
      this.asked = "";
      this.take([], [], 0);
      byId("flow-note").textContent = error instanceof ApiError ? error.message : "The tiles could not be loaded.";
      byId("stand-panel").classList.add("has-flow");
    }
  }

  /** In the laboratory: its blocks, precision and heads as well. */
  private wholeSetting(): Record<string, string | number> {
    if (!this.scene.whole) return {};
    const { blockM, blockN, dtype, batch, numHeads, numHeadsKv } = this.store.get();
    const setting = { block_m: blockM, block_n: blockN, dtype, batch, num_heads: numHeads };
    return numHeadsKv === null ? setting : { ...setting, num_heads_kv: numHeadsKv };
  }

  private get choice(): Choice {
    return choiceOf(this.store.get(), this.scene);
  }

  private take(answers: readonly ScheduleAnswer[], schedules: readonly Schedule[], share: number): void {
    this.answers = answers;
    this.schedules = schedules;
    const panel = byId("stand-panel");
    panel.classList.toggle("has-flow", answers.length > 0);
    panel.dataset.flow = answers.map(({ algorithm, direction }) => `${algorithm} ${direction}`).join(", ");
    const length = Math.max(0, ...schedules.map(({ num_steps }) => num_steps));
    byId<HTMLInputElement>("scrub").max = String(Math.max(1, length));
    showSums(answers);
    const { parallel, follow, t } = this.store.get();
    if (answers.length) void this.tell(answers, parallel);
    const steps = t === null ? Math.round(share * length) : share * length;
    this.player.load(length, steps, this.pace(parallel, follow !== null));
  }

  private async tell(answers: readonly ScheduleAnswer[], parallel: boolean): Promise<void> {
    const [{ noteOf }, { FollowMenu }] = await Promise.all([import("./words"), import("./follow-menu")]);
    if (this.answers !== answers) return;
    byId("flow-note").textContent = noteOf({ answers, parallel });
    this.followMenu ??= new FollowMenu(this.store);
    this.followMenu.show(this.schedules[0] ?? null, this.player.view.time);
  }

  /** Steps a second: larger grids keep the pace per row. */
  private pace(parallel: boolean, following: boolean): number {
    const first = this.schedules[0];
    const blocks = first ? first.blocks_m * first.blocks_n : 64;
    const base = STEPS_PER_SECOND * Math.max(1, parallel ? Math.sqrt(blocks / 64) : blocks / 64);
    return base * (parallel && first?.strands ? AT_ONCE_PACE : 1) * (following ? FOLLOWING_PACE : 1);
  }

  private draw(view: PlayerView): void {
    for (const listener of this.listeners) listener(this.moment);
    const [first, second] = this.schedules;
    const fixed = this.store.get().t !== null;
    const play = byId<HTMLButtonElement>("play");
    play.textContent = view.playing ? "Pause" : "Play";
    play.setAttribute("aria-pressed", String(view.playing));
    for (const id of ["play", "step-back", "step-forward"]) byId<HTMLButtonElement>(id).disabled = !first || fixed;
    this.followMenu?.show(first ?? null, view.time);
    if (!first) {
      this.show(null, null, null);
      return;
    }
    const scrub = byId<HTMLInputElement>("scrub");
    scrub.value = String(view.time);
    const moment = `step ${Math.floor(view.time)} of ${view.length}`;
    scrub.setAttribute("aria-valuetext", moment);
    byId("moment").textContent = moment;
    // On one clock the shorter schedule is done first and stays done.
    const at = (schedule: Schedule) => Math.min(view.time, schedule.num_steps);
    showTallies(this.schedules, this.schedules.map(at));
    this.show(
      { schedule: first, time: at(first) },
      this.answers[0] ?? null,
      second ? { schedule: second, time: at(second) } : null,
    );
  }
}

function radios(name: string): NodeListOf<HTMLInputElement> {
  return document.querySelectorAll<HTMLInputElement>(`input[name="${name}"]`);
}

function tick(name: string, value: string): void {
  for (const input of radios(name)) input.checked = input.value === value;
}

/** The schedules as drawn: as they were answered, or with every SM at work at once. */
async function arranged(answers: readonly ScheduleAnswer[], parallel: boolean): Promise<Schedule[]> {
  const schedules = answers as readonly Schedule[];
  if (!parallel) return [...schedules];
  const { atOnce } = await import("../stand/flow-parallel");
  return schedules.map(atOnce);
}
