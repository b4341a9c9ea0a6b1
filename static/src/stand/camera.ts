/*
 * Who holds the camera: the pose, a flight between two poses, or the reader. Pure state over plain views; the caller
 * copies the result to the renderer's camera. The view never rolls, never dips below the ground, never enters matter.
 */
import { angleBetween, clamp, DEGREE, easeInOut } from "../math/scalar";
import { blendViews, type View } from "../math/view";

/** A flight lasts between these, longer the further it turns. */
const SHORTEST_MS = 500;
const LONGEST_MS = 900;

const LOWEST = 4 * DEGREE;
/** Higher up, flat tops would mirror the lights overhead. */
const HIGHEST = 74 * DEGREE;
/** How near and how far the reader may go, as a share of the pose's own distance. */
const NEAREST = 0.45;
const FARTHEST = 1.9;

export class CameraRig {
  view: View;
  /** True while the reader's own view is shown. */
  taken = false;
  private flight: { from: View; startMs: number; lengthMs: number } | null = null;

  /** `home` gives the view of the present pose; it is asked anew for every frame, so levers and resizing act at once. */
  constructor(private home: () => View) {
    this.view = home();
  }

  get flying(): boolean {
    return this.flight !== null;
  }

  /** Leaves for whatever `home` now gives, or is there at once. */
  goHome(nowMs: number, cut: boolean): void {
    this.taken = false;
    if (cut) {
      this.flight = null;
      this.view = this.home();
      return;
    }
    const to = this.home();
    const turn = Math.abs(angleBetween(this.view.azimuth, to.azimuth)) + Math.abs(to.elevation - this.view.elevation);
    const lengthMs = clamp(SHORTEST_MS + turn * 300, SHORTEST_MS, LONGEST_MS);
    this.flight = { from: this.view, startMs: nowMs, lengthMs };
  }

  /** The reader turns by angles in radians and zooms by a ratio (above 1: further away). */
  orbit(turn: number, rise: number, zoom: number): void {
    const base = this.home();
    this.flight = null;
    this.taken = true;
    this.view = {
      target: this.view.target,
      azimuth: this.view.azimuth + turn,
      elevation: clamp(this.view.elevation + rise, LOWEST, HIGHEST),
      distance: clamp(this.view.distance * zoom, base.distance * NEAREST, base.distance * FARTHEST),
    };
  }

  /** Ends a flight at its goal. */
  finish(): void {
    if (this.flight) this.view = this.home();
    this.flight = null;
  }

  /** The view at a moment; call once a frame. */
  update(nowMs: number): View {
    if (this.taken) return this.view;
    const to = this.home();
    if (this.flight) {
      const k = clamp((nowMs - this.flight.startMs) / this.flight.lengthMs, 0, 1);
      this.view = k < 1 ? blendViews(this.flight.from, to, easeInOut(k)) : to;
      if (k >= 1) this.flight = null;
    } else this.view = to;
    return this.view;
  }
}
