/*
 * The laboratory. Moving the lever asks nothing: one sweep per setting holds every stop. What is shown is drawn once a
 * frame at most. When the server is slow or gone, the last answer stays and says whose it is.
 */
import "../../styles/lab-body.css";
import "../../styles/lab-extras.css";
import { ApiError } from "../api/client";
import type { LabSweepAnswer } from "../api/schema.gen";
import { BlockGrid } from "../figures/block-grid";
import { BlockHolds } from "../figures/block-holds";
import { PassStrips } from "../figures/pass-strips";
import { RooflineFigure } from "../figures/roofline";
import { TrafficBars } from "../figures/traffic-bars";
import { settingOf } from "../state/setting";
import type { Store } from "../state/store";
import type { Choices, ExhibitState, Setting } from "../state/types";
import { byId, make } from "../ui/dom";
import { atRest, eachFrame, Slot } from "../ui/slots";
import { Answers, at, lengthsOf, type Point } from "./answers";
import { BreakIt } from "./break-it";
import { Compare } from "./compare";
import { Controls } from "./controls";
import { GpuTable } from "./gpu-table";
import { rooms } from "./layout";
import { Panel } from "./panel";
import { columns, held, passes, roofPoints, spoken, spokenColumns, spokenRoofs, strips, verdict } from "./pictures";
import { Questions } from "./questions";
import { Readouts } from "./readouts";
import { Records } from "./records";
import { Share } from "./share";
import { CountsTable } from "./table";
import { TensorTable } from "./tensors";
import { describe } from "./words";

const REST_MS = 250;
const SLOW_MS = 500;

export class Lab {
  readonly grid: BlockGrid;
  private readonly body = byId("lab-body");
  private readonly noted = byId("lab-note");
  private readonly waiting = byId("lab-wait");
  private readonly said = byId("lab-say");
  private readonly answers: Answers;
  private readonly rooms = rooms(this.body);
  private readonly parts;
  private readonly shownLine = new Slot();
  private readonly passesLine = new Slot();
  private readonly verdictLine = new Slot();
  private asking: AbortController | null = null;
  private wanted = "";
  private shown: Setting | null = null;
  private drawnBlock = "";
  private readonly soon = eachFrame(() => this.refresh());
  private readonly rest = atRest(REST_MS, () => this.rested());

  constructor(
    private readonly store: Store<ExhibitState>,
    private readonly choices: Choices,
  ) {
    const stops = choices.seqlens;
    const gpus = [...byId<HTMLSelectElement>("gpu").options].map((option) => ({
      id: option.value,
      name: option.text,
      flopsPerS: Number(option.dataset.flopsPerS),
      ridgePoint: Number(option.dataset.ridgePoint),
    }));
    this.answers = new Answers(stops);
    const { rooms } = this;
    const controls = new Controls(store, choices, (text) => this.note(text));
    this.parts = {
      controls,
      readouts: new Readouts(rooms.readouts),
      questions: new Questions(rooms.question, store, this.answers),
      panel: new Panel(rooms, { at: (n) => controls.toward(n), by: (by) => controls.by(by) }),
      bars: new TrafficBars(rooms.bars),
      passes: new PassStrips(rooms.passStrips),
      tensors: new TensorTable(rooms.tensors),
      holds: new BlockHolds(rooms.holds),
      roofline: new RooflineFigure(rooms.roofline, gpus),
      gpus: new GpuTable(rooms.gpus, gpus),
      compare: new Compare(rooms.compare, store, this.answers, stops),
      broken: new BreakIt(rooms.broken, store),
      share: new Share(rooms.share, store, this.answers, stops),
      table: new CountsTable(rooms.table),
      records: new Records(rooms.records, (search) => controls.open(search)),
    };
    this.grid = new BlockGrid(rooms.grid);
    rooms.shown.append(this.shownLine.node);
    rooms.passes.append(this.passesLine.node);
    rooms.verdict.append(this.verdictLine.node);
    store.subscribe(() => this.changed());
    this.changed();
  }

  /** Says something beside the controls. */
  note(...content: (Node | string)[]): void {
    this.noted.replaceChildren(...content.filter((part) => part !== ""));
  }

  private changed(): void {
    this.parts.controls.show(this.store.get());
    this.soon();
    this.rest.soon();
  }

  private refresh(): void {
    const state = this.store.get();
    void this.parts.questions.show(state);
    const setting = settingOf(state);
    const lengths = lengthsOf(state.seqlen, this.choices.seqlens);
    const known = this.answers.known(setting, lengths);
    if (known) {
      this.wanted = "";
      this.asking?.abort();
      this.show(known, state);
      return;
    }
    const wanted = this.answers.path(setting, lengths);
    if (wanted !== this.wanted) void this.ask(setting, lengths, wanted);
  }

  private async ask(setting: Setting, lengths: readonly number[], wanted: string): Promise<void> {
    this.asking?.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    this.wanted = wanted;
    this.body.setAttribute("aria-busy", "true");
    const slow = window.setTimeout(
      () => this.waiting.replaceChildren("Waiting for the server …", this.stale()),
      SLOW_MS,
    );
    try {
      await this.answers.get(setting, lengths, signal);
      if (!signal.aborted) this.refresh();
    } catch (error) {
      if (!signal.aborted) this.failed(error);
    } finally {
      clearTimeout(slow);
      if (!signal.aborted) this.waiting.replaceChildren();
    }
  }

  private failed(error: unknown): void {
    const retry = make("button", { type: "button" }, "Try again");
    retry.addEventListener("click", () => {
      this.wanted = "";
      this.note();
      this.refresh();
    });
    const message = error instanceof ApiError ? error.message : "The counts could not be loaded.";
    this.body.dataset.stale = "true";
    this.body.setAttribute("aria-busy", "false");
    this.note(message, this.stale(), retry);
  }

  private stale(): string {
    return this.shown ? ` The readouts below are still those of ${describe(this.shown)}. ` : " ";
  }

  private show(sweep: LabSweepAnswer, state: Readonly<ExhibitState>): void {
    const point = at(sweep, state.seqlen);
    if (!point) return;
    const { parts } = this;
    const asked = this.body.dataset.stale === "true" || this.body.getAttribute("aria-busy") === "true";
    if (asked) this.answered();
    this.shown = settingOf(state);
    this.shownLine.set(describe(this.shown));
    parts.readouts.show(point);
    parts.panel.show(state, sweep, point, spoken(point));
    const bars = columns(point);
    parts.bars.show(bars, spokenColumns(bars));
    this.passesLine.set(passes(point));
    parts.passes.show(strips(point), passes(point));
    parts.tensors.show(point);
    this.block(point);
    const roofed = roofPoints(point);
    parts.roofline.show(state.gpu, roofed, spokenRoofs(roofed));
    parts.gpus.show(point);
    void parts.compare.show(state, point);
    void parts.broken.show(state, point);
    parts.table.show(point);
  }

  /** What a block holds depends on the setting only. */
  private block(point: Point): void {
    const drawn = JSON.stringify([point.lab.holds, point.counts.block.smem_limit_bytes]);
    if (drawn === this.drawnBlock) return;
    this.drawnBlock = drawn;
    const rows = held(point);
    const said = rows.map(({ name, neededText, limitText }) => `${name}: ${neededText}, ${limitText}.`).join(" ");
    this.parts.holds.show(rows, `${said} ${verdict(point)}`);
    this.verdictLine.set(verdict(point));
  }

  private answered(): void {
    delete this.body.dataset.stale;
    this.body.setAttribute("aria-busy", "false");
    this.waiting.replaceChildren();
    if (this.noted.querySelector("button")) this.note();
  }

  /** Once the lever rests: what nobody reads while it moves. */
  private rested(): void {
    this.parts.share.show();
    const state = this.store.get();
    const sweep = this.answers.known(settingOf(state), lengthsOf(state.seqlen, this.choices.seqlens));
    const point = sweep && at(sweep, state.seqlen);
    if (point) this.said.textContent = spoken(point);
  }
}
