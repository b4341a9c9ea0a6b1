/*
 * The lanes that tiles travel on, drawn in copper over the tops while data flows: from each serving stack to the die's
 * edge, along the memory controllers, into the L2. Real lanes run inside the interposer, under the moulding. Behind a
 * tile in flight a short trail shows, even in a still picture, which way it goes.
 */
import { Color, Group } from "three";
import type { Vec3 } from "../math/view";
import { explodeOffset } from "./explode";
import type { FlowTile, FlowTiles } from "./flow";
import type { FlowLayout } from "./flow-layout";
import { LineMaterial, LineSet } from "./lines";
import type { Room } from "./themes";
import { FACES } from "./tile-atlas";
import type { Tensor } from "./types";

/** Segments of a trail, and how much of the lane it covers. */
const PIECES = 8;
const REACH = 0.3;
const MOST_TRAILS = 96;
const MOST_LANES = 128;

export class Lanes {
  readonly group = new Group();
  private readonly laneLook = new LineMaterial(0.05);
  private readonly trailLook = new LineMaterial(0.05);
  private readonly lanes = new LineSet(this.laneLook.material, MOST_LANES);
  private readonly trails = new LineSet(this.trailLook.material, MOST_TRAILS * PIECES);
  private drawnFor: FlowLayout | null = null;
  private readonly colours: Record<Tensor, Color>;
  private readonly a = new Float32Array(4);
  private readonly b = new Float32Array(4);
  private readonly ghost: FlowTile = { tensor: "q", m: -1, n: -1, leg: "in_l2", k: 0, row: -1, scale: 1 };

  constructor() {
    this.colours = Object.fromEntries(
      Object.entries(FACES).map(([tensor, face]) => [tensor, new Color(face.colour)]),
    ) as Record<Tensor, Color>;
    this.lanes.mesh.renderOrder = 3;
    this.trails.mesh.renderOrder = 3;
    this.group.add(this.lanes.mesh, this.trails.mesh);
    this.group.visible = false;
  }

  setRoom(room: Room): void {
    this.laneLook.look.tint.value.set(room.lane);
    this.laneLook.look.opacity.value = room.laneOpacity;
    this.laneLook.look.width.value = room.edgeWidth;
    this.trailLook.look.width.value = room.edgeWidth * 2.4;
  }

  resize(width: number, height: number): void {
    this.laneLook.resize(width, height);
    this.trailLook.resize(width, height);
  }

  show(tiles: FlowTiles, layout: FlowLayout | null, explode: number): void {
    // Taken apart, the lanes would cross open air: they are drawn on the closed package only.
    this.group.visible = layout !== null && explode < 0.02;
    if (!layout || !this.group.visible) return;
    this.group.position.y = explodeOffset("gpu_die", explode)[1];
    if (this.drawnFor !== layout) this.drawLanes(layout);
    this.drawTrails(tiles, layout);
  }

  dispose(): void {
    for (const set of [this.lanes, this.trails]) set.dispose();
    for (const look of [this.laneLook, this.trailLook]) look.material.dispose();
  }

  private drawLanes(layout: FlowLayout): void {
    this.drawnFor = layout;
    let at = 0;
    for (const track of layout.tracks())
      for (let i = 1; i < track.length && at < MOST_LANES - 3; i++, at++) {
        this.lanes.segment(at, track[i - 1] as Vec3, track[i] as Vec3);
        this.lanes.colour(at, -1, 0, 0, 1);
      }
    const parting = layout.parting();
    // Three lines side by side make one that is clearly no lane.
    for (const aside of parting ? [-0.1, 0, 0.1] : []) {
      const [a, b] = parting as [Vec3, Vec3];
      this.lanes.segment(at, [a[0] + aside, a[1], a[2]], [b[0] + aside, b[1], b[2]]);
      this.lanes.colour(at++, 1, 1, 1, 1);
    }
    this.lanes.count = at;
  }

  private drawTrails(tiles: FlowTiles, layout: FlowLayout): void {
    let at = 0;
    for (let i = 0; i < tiles.count && at < MOST_TRAILS * PIECES; i++) {
      const tile = tiles.items[i] as FlowTile;
      if (tile.leg === "in_l2" || tile.leg === "on_sm") continue;
      const { r, g, b } = this.colours[tile.tensor];
      Object.assign(this.ghost, tile);
      layout.place(this.ghost, this.b);
      for (let piece = 1; piece <= PIECES; piece++) {
        this.ghost.k = Math.max(0, tile.k - (REACH * piece) / PIECES);
        this.a.set(this.b);
        layout.place(this.ghost, this.b);
        this.trails.segment(at, this.a, this.b);
        this.trails.colour(at, r, g, b, 1 - piece / (PIECES + 1));
        at++;
      }
    }
    this.trails.count = at;
  }
}
