/*
 * Everything about cutting that the first frame does without, fetched when a cut is first asked for: the cut bodies and
 * their faces, the plane's frame and grip, the names on the face.
 */

import type { View } from "../math/view";
import type { CalloutAnchor } from "./anchors";
import type { Bodies } from "./bodies";
import { cutAnchors } from "./cut-anchors";
import { CutHandle, FRAME_TOP } from "./cut-handle";
import { CutView, type StateOf } from "./cut-view";
import type { Materials } from "./materials";
import type { PackageModel } from "./package";
import { partBox, type Shape } from "./placement";
import { FOV } from "./poses";
import type { Stage } from "./stage";
import type { Room } from "./themes";
import type { Theme } from "./types";

export class CutTools {
  private readonly view: CutView;
  private readonly handle: CutHandle;
  private shape: Shape | null = null;

  constructor(
    host: HTMLElement,
    private readonly stage: Stage,
    private readonly model: PackageModel,
    private readonly materials: Materials,
    plain: boolean,
    onMove: (at: number) => void,
  ) {
    this.view = new CutView(model, materials.light, (name) => materials.get(name, plain));
    this.handle = new CutHandle(host, stage.scene, { onMove });
  }

  setRoom(theme: Theme, room: Room): void {
    this.view.setTheme(theme);
    this.handle.setRoom(room);
  }

  setPlain(plain: boolean): void {
    this.view.setDress((name) => this.materials.get(name, plain));
  }

  /** Cuts anew what the plane passes through. */
  cut(bodies: Bodies, shape: Shape, stateOf: StateOf): void {
    this.shape = shape;
    this.view.show(bodies.crossing, shape, stateOf);
  }

  setStates(stateOf: StateOf): void {
    this.view.setStates(stateOf);
  }

  /** Frame, grip and hatch for a view. */
  show(shape: Shape, view: View): void {
    const { width, height } = this.stage;
    const { plane } = shape;
    const half = plane ? this.model.bounds.substrate.max[plane.axis] : 1;
    this.handle.show(plane, half, 0.1, plane ? this.top(shape) + FRAME_TOP : 1, view, width, height);
    const pxPerMm = height / (2 * Math.tan(FOV / 2) * view.distance);
    this.view.setGrain(pxPerMm, shape.scale);
  }

  anchors(shape: Shape, azimuth: number): CalloutAnchor[] {
    if (!shape.plane || !this.shape) return [];
    return cutAnchors(this.view.faces, shape.plane, this.model, shape, azimuth);
  }

  dispose(): void {
    this.view.dispose();
    this.handle.dispose();
  }

  /** Height of what stands tallest. */
  private top(shape: Shape): number {
    const tops = [...this.model.parts.values()].map((part) => partBox(part, shape)?.max[1] ?? 0);
    return Math.max(...tops);
  }
}
