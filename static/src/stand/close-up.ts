/*
 * The near views that are fetched when they are first asked for: the die's diagram with the opened SM, charts, and the
 * tile that the camera follows. Gathered here so that the stand asks one place what is in view, what is named, what was tapped.
 */
import type { Vec3 } from "../math/view";
import type { CalloutAnchor } from "./anchors";
import type { ChartView } from "./chart-view";
import type { DiagramView } from "./diagram-view";
import { explodeOffset } from "./explode";
import type { FlowLayout } from "./flow-layout";
import type { PackageModel } from "./package";
import type { Shape } from "./placement";
import type { Subject } from "./poses";
import { INSIDE_SM } from "./regions";
import type { Stage } from "./stage";
import type { Room } from "./themes";
import { titleOf } from "./tile-names";
import type { DiePick, Part, StandState } from "./types";

export function sameTarget(a: object | null | undefined, b: object | null | undefined): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}

/** The SMs of what is picked on the die, by their index among all. */
export function smsOf(pick: DiePick | null, { regions }: PackageModel): number[] {
  if (!pick) return [];
  const each = regions.sm.length / regions[pick.kind].length;
  return Array.from({ length: each }, (_, i) => pick.index * each + i);
}

/** A timeline is written on its board and covers the die; beside bars only the die and what is lit are named. */
function besideChart(id: string, { chart, lit }: StandState): boolean {
  if (!chart) return true;
  return chart.kind !== "timeline" && (id === "gpu_die" || lit.some((part) => id.startsWith(part)));
}

export class CloseUp {
  private view: DiagramView | null = null;
  private chart: ChartView | null = null;
  private fetchingChart: Promise<void> | null = null;
  private fetching: Promise<void> | null = null;
  private eye: typeof import("./flow-camera") | null = null;
  private room: Room | null = null;
  private closed = false;

  constructor(
    private readonly model: PackageModel,
    private readonly stage: Stage,
  ) {}

  /** Whether a state shows anything that may have to be fetched. */
  static asks(state: StandState): boolean {
    return CloseUp.wants(state) || Boolean(state.follow) || Boolean(state.chart);
  }

  static wants({ plaque, die, lit }: StandState): boolean {
    return Boolean(plaque) || Boolean(die) || lit.some((id) => INSIDE_SM.includes(id));
  }

  /** Whether two states need different views of the camera for what is shown here. */
  static turns(before: StandState, now: StandState): boolean {
    return (
      Boolean(before.plaque) !== Boolean(now.plaque) ||
      !sameTarget(before.die, now.die) ||
      !sameTarget(before.follow, now.follow) ||
      before.chart?.kind !== now.chart?.kind ||
      CloseUp.wants(before) !== CloseUp.wants(now)
    );
  }

  setRoom(room: Room): void {
    this.room = room;
    this.view?.setRoom(room);
    this.chart?.setRoom(room);
  }

  resize(): void {
    this.view?.resize(this.stage.width, this.stage.height);
  }

  follow(state: StandState, cuts: boolean): void {
    this.view?.set({ plaque: state.plaque ?? false, die: state.die ?? null, lit: state.lit }, cuts);
    this.chart?.set(state.chart ?? null, cuts);
  }

  /** True once there is something new to draw. `state` is asked again when the view has come. */
  async fetch(state: () => StandState, cuts: boolean): Promise<boolean> {
    const followed = Boolean(state().follow) && !this.eye;
    if (followed) this.eye = await import("./flow-camera");
    if (state().chart && !this.chart) {
      this.fetchingChart ??= import("./chart-view").then(({ ChartView }) => {
        if (this.closed) return;
        this.chart = new ChartView(this.model);
        this.stage.scene.add(this.chart.group);
        if (this.room) this.chart.setRoom(this.room);
        this.chart.set(state().chart ?? null, cuts);
      });
      await this.fetchingChart;
      if (!CloseUp.wants(state())) return true;
    }
    if (this.view || !CloseUp.wants(state())) return followed;
    this.fetching ??= import("./diagram-view").then(({ DiagramView }) => {
      if (this.closed) return;
      this.view = new DiagramView(this.model);
      this.stage.scene.add(this.view.group);
      if (this.room) this.view.setRoom(this.room);
      this.resize();
      this.follow(state(), cuts);
    });
    await this.fetching;
    return true;
  }

  update(deltaMs: number, shape: Shape): boolean {
    const top = this.dieTop(shape);
    const growing = this.chart?.shown ? this.chart.update(deltaMs, top) : false;
    return (this.view?.shown ? this.view.update(deltaMs, top) : false) || growing;
  }

  /** What the camera looks at instead of, or besides, what the state's pose says. */
  subject(state: StandState, shape: Shape, layout: FlowLayout | null, rest: Subject): Subject {
    if (state.follow && state.flow && layout && this.eye) {
      const at = this.eye.followedPlace(layout, state.flow, state.follow);
      return { instead: this.eye.followedBox(this.placed(at, shape)) };
    }
    const top = this.dieTop(shape);
    const boxes = [...(this.view?.boxes(top) ?? []), ...(this.chart?.boxes(top) ?? [])];
    return boxes.length ? { ...rest, also: [...(rest.also ?? []), ...boxes] } : rest;
  }

  /** Callouts of the diagram in place of the parts', and the caption of the followed tile beside them. */
  anchors(state: StandState, shape: Shape, layout: FlowLayout | null, parts: () => CalloutAnchor[]): CalloutAnchor[] {
    const own = state.labels && this.view?.shown ? this.view.anchors() : [];
    const named = own.length || !state.labels ? own : parts().filter(({ id }) => besideChart(id, state));
    const anchors = state.labels ? [...(this.chart?.anchors(this.dieTop(shape)) ?? []), ...named] : named;
    if (!state.follow || !state.flow || !layout || !this.eye) return anchors;
    const { at, words } = this.eye.seenAt(layout, state.flow, state.follow);
    const title = `${titleOf(state.follow)} ${words}`;
    return [{ id: "followed", title, rank: -30, at: this.placed(at, shape) }, ...anchors];
  }

  /** What a tap along a ray means; undefined where nothing of the diagram is met. */
  hit(from: Vec3, along: Vec3): DiePick | null | undefined {
    return this.view?.shown ? this.view.hit(from, along) : undefined;
  }

  /** Marks what a tap would pick; true when that changed. */
  hover(pick: DiePick | null): boolean {
    return this.view?.hover(pick) ?? false;
  }

  partOf(pick: DiePick | null): Part | null {
    return pick && this.view ? this.view.partOf(pick) : null;
  }

  dispose(): void {
    this.closed = true;
    this.view?.dispose();
    this.chart?.dispose();
  }

  private placed([x, y, z]: Vec3, shape: Shape): Vec3 {
    return [x, y + this.dieTop(shape) - this.model.dieTop, z];
  }

  private dieTop(shape: Shape): number {
    return this.model.dieTop * shape.scale + explodeOffset("gpu_die", shape.explode)[1];
  }
}
