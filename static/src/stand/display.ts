/*
 * Everything the stand shows besides the package itself: lit edges and regions, tiles and their lanes, what lies in HBM,
 * the plaque with the grid. Gathered here so that each moment is shown, dressed and put away in one place.
 */
import { Group } from "three";
import type { Vec3 } from "../math/view";
import { Edges } from "./edges";
import { explodeOffset } from "./explode";
import { ownersAt } from "./flow";
import { isStrip } from "./flow-kinds";
import { type FlowLayout, type FlowSite, halfOf } from "./flow-layout";
import { FlowView } from "./flow-view";
import type { PackageModel } from "./package";
import { PartsState } from "./parts-state";
import { Plaque } from "./plaque";
import { Regions } from "./regions";
import type { Stage } from "./stage";
import type { Room } from "./themes";
import type { Flow, Followed } from "./types";

/** The sixth site never serves data. */
const SERVING = ["hbm_stack_0", "hbm_stack_1", "hbm_stack_2", "hbm_stack_3", "hbm_stack_4"];
/** How bright the L2 is while it serves. */
const L2_SERVING = 0.3;
/** How bright an SM picked on the die is. */
const PICKED = 0.95;

export class Display {
  readonly parts: PartsState;
  private readonly edges: Edges;
  private readonly regions: Regions;
  private readonly site: FlowSite;
  private readonly halves: readonly [FlowSite, FlowSite];
  private readonly first: FlowView;
  /** The second flow of the twin mode and its grid; made when it is first asked for. */
  private second: FlowView | null = null;
  private readonly plaque: Plaque;
  /** All that lies or flies above the tops: it sinks with them when the package is shown thinner, itself unchanged. */
  private readonly above = new Group();
  private twinPlaque: Plaque | null = null;
  private room: Room | null = null;
  private pickedSms: readonly number[] = [];
  private size = { width: 1, height: 1 };

  constructor(
    private readonly model: PackageModel,
    stage: Stage,
  ) {
    const boundsOf = (id: string) => {
      const part = model.parts.get(id);
      if (!part) throw new Error(`the model has no part "${id}"`);
      return part.bounds;
    };
    this.edges = new Edges(model);
    this.regions = new Regions(model);
    this.parts = new PartsState(model, this.edges);
    this.plaque = new Plaque(model.dieTop);
    this.site = {
      stacks: SERVING.map(boundsOf),
      die: boundsOf("gpu_die"),
      dieTop: model.dieTop,
      l2: model.regions.l2,
      gpc: model.regions.gpc,
      sm: model.regions.sm,
    };
    this.halves = [halfOf(this.site, -1), halfOf(this.site, 1)];
    this.first = new FlowView(model.dieTop);
    this.above.add(...this.first.objects, this.plaque.group);
    stage.scene.add(this.above);
  }

  /** Corners of the plaque in mm, for fitting the camera. */
  get plaqueCorners(): Vec3[] {
    return this.plaque.corners;
  }

  setRoom(room: Room): void {
    this.edges.setRoom(room);
    this.room = room;
    for (const part of [this.plaque, this.twinPlaque, this.first, this.second]) part?.setRoom(room);
  }

  /** `scale`: height of the package relative to what the model draws. */
  setScale(scale: number): void {
    this.above.position.y = this.model.dieTop * (scale - 1);
  }

  /** Size of the canvas in CSS px. */
  resize(width: number, height: number): void {
    this.edges.resize(width, height);
    this.size = { width, height };
    this.first.resize(width, height);
    this.second?.resize(width, height);
  }

  /** Shows a moment of one flow, or of two side by side. `presence`: how far the plaque has come, 0…1. */
  show(flow: Flow | null, twin: Flow | null, explode: number, presence: number): void {
    const both = flow !== null && twin !== null;
    if (both) this.makeSecond();
    this.first.show(flow, both ? this.halves[0] : this.site, explode);
    this.second?.show(both ? twin : null, this.halves[1], explode);
    const lift = explodeOffset("stacks_left", explode)[1];
    this.plaque.show(flow, presence, lift, both ? -1 : 0);
    this.twinPlaque?.show(twin, both ? presence : 0, lift, 1);
    // After the lanes, which follow the tiles of the flow alone.
    if (flow && presence > 0.5) this.plaque.mark(flow, this.first.tiles);
    if (both && presence > 0.5 && this.second) this.twinPlaque?.mark(twin, this.second.tiles);
    this.light(flow, both ? twin : null);
  }

  /** Where the first flow happens; null without one. */
  get layout(): FlowLayout | null {
    return this.first.layout;
  }

  /** The tile of the first flow that a ray meets. */
  tileAlong(from: Vec3, along: Vec3): Followed | null {
    const tile = this.first.tiles.hit(from, along, this.above.position.y);
    return tile && !isStrip(tile.tensor) ? { tensor: tile.tensor, m: tile.m, n: tile.n } : null;
  }

  /** SMs to light besides those at work. */
  setPicked(sms: readonly number[]): void {
    this.pickedSms = sms;
  }

  /** The first SM at work, by its index among all; null when none is. */
  busySm(flow: Flow | null): number | null {
    const owner = flow ? ownersAt(flow.schedule, flow.time)[0] : undefined;
    return owner !== undefined && this.first.layout ? this.first.layout.smOf(owner) : null;
  }

  private makeSecond(): void {
    if (this.second) return;
    this.second = new FlowView(this.model.dieTop);
    this.twinPlaque = new Plaque(this.model.dieTop);
    this.above.add(...this.second.objects, this.twinPlaque.group);
    this.second.resize(this.size.width, this.size.height);
    if (this.room) this.setRoom(this.room);
  }

  dispose(): void {
    for (const part of [this.edges, this.regions, this.first, this.second, this.plaque, this.twinPlaque])
      part?.dispose();
  }

  /** Levels spoken of, the L2 while it serves, and the SMs at work. */
  private light(flow: Flow | null, twin: Flow | null): void {
    const kinds = new Map(this.parts.regions);
    const sms = new Map<number, number>();
    if (flow) kinds.set("l2", Math.max(kinds.get("l2") ?? 0, L2_SERVING));
    if (flow) this.first.light(flow, sms);
    if (twin) this.second?.light(twin, sms);
    for (const sm of this.pickedSms) sms.set(sm, PICKED);
    this.regions.light(kinds, sms);
  }
}
