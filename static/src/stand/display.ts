/*
 * Everything the stand shows besides the package itself: lit edges and regions, tiles and their lanes, what lies in HBM,
 * the plaque with the grid. Gathered here so that each moment is shown, dressed and put away in one place.
 */
import type { Vec3 } from "../math/view";
import { Edges } from "./edges";
import { explodeOffset } from "./explode";
import { ownerAt, workAt } from "./flow";
import { Lanes } from "./lanes";
import type { PackageModel } from "./package";
import { PartsState } from "./parts-state";
import { Plaque } from "./plaque";
import { Regions } from "./regions";
import type { Stage } from "./stage";
import { Stored } from "./stored";
import type { Room } from "./themes";
import { Tiles } from "./tiles";
import type { Flow } from "./types";

/** The sixth site never serves data. */
const SERVING = ["hbm_stack_0", "hbm_stack_1", "hbm_stack_2", "hbm_stack_3", "hbm_stack_4"];
/** How bright the L2 is while it serves, and an SM before and during its work. */
const L2_SERVING = 0.3;
const SM_WAITING = 0.35;
const SM_WORKING = 0.95;

export class Display {
  readonly parts: PartsState;
  private readonly edges: Edges;
  private readonly regions: Regions;
  private readonly tiles: Tiles;
  private readonly stored: Stored;
  private readonly plaque: Plaque;
  private readonly lanes = new Lanes();

  constructor(model: PackageModel, stage: Stage) {
    const boundsOf = (id: string) => {
      const part = model.parts.get(id);
      if (!part) throw new Error(`the model has no part "${id}"`);
      return part.bounds;
    };
    this.edges = new Edges(model);
    this.regions = new Regions(model);
    this.parts = new PartsState(model, this.edges);
    this.plaque = new Plaque(model.dieTop);
    this.tiles = new Tiles({
      stacks: SERVING.map(boundsOf),
      die: boundsOf("gpu_die"),
      dieTop: model.dieTop,
      l2: model.regions.l2,
      gpc: model.regions.gpc,
      sm: model.regions.sm,
    });
    this.stored = new Stored(model.dieTop);
    stage.scene.add(this.tiles.mesh, this.stored.mesh, this.lanes.group, this.plaque.group);
  }

  /** Corners of the plaque in mm, for fitting the camera. */
  get plaqueCorners(): Vec3[] {
    return this.plaque.corners;
  }

  setRoom(room: Room): void {
    this.edges.setRoom(room);
    this.plaque.setRoom(room);
    this.lanes.setRoom(room);
  }

  /** Size of the canvas in CSS px. */
  resize(width: number, height: number): void {
    this.edges.resize(width, height);
    this.lanes.resize(width, height);
  }

  /** Shows a moment. `presence`: how far the plaque has come, 0…1. */
  show(flow: Flow | null, explode: number, presence: number): void {
    this.tiles.show(flow, explode);
    this.plaque.show(flow, presence, explodeOffset("stacks_left", explode)[1]);
    this.lanes.show(this.tiles.list, this.tiles.layout, explode);
    this.stored.show(flow, this.tiles.layout, explode);
    // After the lanes, which follow the tiles of the flow alone.
    if (flow && presence > 0.5) this.plaque.mark(flow, this.tiles);
    this.light(flow);
  }

  /** The SM at work, by its index among all; null when none is. */
  busySm(flow: Flow | null): number | null {
    const owner = flow ? ownerAt(flow.schedule, flow.time) : -1;
    return owner >= 0 && this.tiles.layout ? this.tiles.layout.smOf(owner) : null;
  }

  dispose(): void {
    for (const part of [this.edges, this.regions, this.tiles, this.stored, this.plaque, this.lanes]) part.dispose();
  }

  /** Levels spoken of, the L2 while it serves, and the SM at work. */
  private light(flow: Flow | null): void {
    const kinds = new Map(this.parts.regions);
    const sms = new Map<number, number>();
    if (flow) {
      kinds.set("l2", Math.max(kinds.get("l2") ?? 0, L2_SERVING));
      const busy = this.busySm(flow);
      const work = workAt(flow.schedule, flow.time);
      if (busy !== null) sms.set(busy, SM_WAITING + (SM_WORKING - SM_WAITING) * work);
    }
    this.regions.light(kinds, sms);
  }
}
