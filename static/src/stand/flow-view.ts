/*
 * One flow as it is seen: tiles, the lanes they travel on and what lies in HBM, on the whole package or on one half of
 * it. Two of these side by side are the twin mode.
 */
import type { Object3D } from "three";
import { ownersAt, workAt } from "./flow";
import type { FlowLayout, FlowSite } from "./flow-layout";
import { Lanes } from "./lanes";
import { Stored } from "./stored";
import type { Room } from "./themes";
import { Tiles } from "./tiles";
import type { Flow } from "./types";

/** How bright an SM is before and during its work. */
const SM_WAITING = 0.35;
const SM_WORKING = 0.95;

export class FlowView {
  readonly tiles: Tiles;
  private readonly stored: Stored;
  private readonly lanes = new Lanes();

  constructor(dieTop: number) {
    this.tiles = new Tiles();
    this.stored = new Stored(dieTop);
  }

  get objects(): Object3D[] {
    return [this.tiles.mesh, this.stored.mesh, this.lanes.group];
  }

  get layout(): FlowLayout | null {
    return this.tiles.layout;
  }

  setRoom(room: Room): void {
    this.lanes.setRoom(room);
  }

  resize(width: number, height: number): void {
    this.lanes.resize(width, height);
  }

  /** `site`: the part of the package it may use. */
  show(flow: Flow | null, site: FlowSite, explode: number): void {
    this.tiles.show(flow, site, explode);
    this.lanes.show(this.tiles.list, this.tiles.layout, explode);
    this.stored.show(flow, this.tiles.layout, explode);
  }

  /** Adds the SMs at work and how bright they are, by their index among all. */
  light(flow: Flow, sms: Map<number, number>): void {
    const layout = this.tiles.layout;
    if (!layout) return;
    const work = workAt(flow.schedule, flow.time);
    for (const owner of ownersAt(flow.schedule, flow.time))
      sms.set(layout.smOf(owner), SM_WAITING + (SM_WORKING - SM_WAITING) * work);
  }

  dispose(): void {
    for (const part of [this.tiles, this.stored, this.lanes]) part.dispose();
  }
}
