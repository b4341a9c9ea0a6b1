/*
 * The package as it is shown at a moment: the levers followed, groups moved and thinned, bodies left out, raised or
 * cut. What a cut needs is fetched the first time one is asked for.
 */
import type { View } from "../math/view";
import type { CalloutAnchor } from "./anchors";
import { Bodies } from "./bodies";
import type { CutTools } from "./cut";
import { explodeOffset, GROUPS } from "./explode";
import type { Materials } from "./materials";
import type { PackageModel } from "./package";
import type { PartsState } from "./parts-state";
import { type Shape, scaleOfGroup } from "./placement";
import { Shaping } from "./shaping";
import type { Stage } from "./stage";
import type { Room } from "./themes";
import type { StandState, Theme } from "./types";

export class PackageView {
  private readonly shaping: Shaping;
  private readonly bodies: Bodies;
  private tools: CutTools | null = null;
  private fetching: Promise<void> | null = null;
  private plain = false;
  private room: { theme: Theme; room: Room } | null = null;
  private drawn: Shape | null = null;
  private closed = false;

  constructor(
    private readonly host: HTMLElement,
    private readonly stage: Stage,
    private readonly materials: Materials,
    private readonly model: PackageModel,
    private readonly parts: PartsState,
    state: StandState,
    /** The plane was moved on the stand, −1 … 1. */
    private readonly onPlane: (at: number) => void,
  ) {
    this.shaping = new Shaping(state, model.bounds.substrate.max, model.thicknessFactor);
    this.bodies = new Bodies(model);
  }

  get shape(): Shape {
    return this.shaping.shape;
  }

  follow(state: StandState): void {
    this.shaping.follow(state);
  }

  setPlain(plain: boolean): void {
    this.plain = plain;
    for (const mesh of this.model.meshes) mesh.material = this.materials.get(mesh.userData.material, plain);
    this.tools?.setPlain(plain);
    this.drawn = null;
  }

  setRoom(theme: Theme, room: Room): void {
    this.room = { theme, room };
    this.tools?.setRoom(theme, room);
  }

  /** Fetches what cutting needs if the state asks for a cut; true once there is something new to draw. */
  async fetch(state: StandState): Promise<boolean> {
    if (!state.cut || this.tools) return false;
    this.fetching ??= import("./cut").then(({ CutTools }) => {
      if (this.closed) return;
      this.tools = new CutTools(this.host, this.stage, this.model, this.materials, this.plain, this.onPlane);
      if (this.room) this.tools.setRoom(this.room.theme, this.room.room);
      // The materials are made when the first half needs them, and dressed for the room like all others.
      this.drawn = null;
    });
    await this.fetching;
    return true;
  }

  /** Moves everything on. `cuts`: straight to the goal. True while something is still moving. */
  update(deltaMs: number, cuts: boolean): boolean {
    if (cuts) this.shaping.finish();
    const fading = this.parts.update(cuts ? 1e6 : deltaMs);
    const moving = this.shaping.update(deltaMs, this.parts.hidden, this.tools !== null);
    const { shape } = this;
    if (shape !== this.drawn) {
      for (const name of GROUPS) {
        const group = this.model.groups[name];
        group.position.set(...explodeOffset(name, shape.explode));
        group.scale.y = scaleOfGroup(name, shape);
      }
      if (this.bodies.update(shape, this.plain)) {
        this.parts.edges.setShape(shape);
        this.parts.refresh();
        this.tools?.cut(this.bodies, shape, (id) => this.parts.stateOf(id));
      }
      this.stage.shadowsChanged();
      this.drawn = shape;
    }
    if (this.parts.write()) this.tools?.setStates((id) => this.parts.stateOf(id));
    return moving || fading;
  }

  /** Frame and hatch of the cut, for the view about to be drawn. */
  show(view: View): void {
    this.tools?.show(this.shape, view);
  }

  anchors(azimuth: number): CalloutAnchor[] {
    return this.tools?.anchors(this.shape, azimuth) ?? [];
  }

  dispose(): void {
    this.closed = true;
    this.tools?.dispose();
  }
}
