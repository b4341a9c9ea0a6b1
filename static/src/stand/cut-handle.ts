/*
 * The plane of a cut as something to take hold of: a thin frame around the package and a grip on its upper edge. The
 * grip is an element of the page, so that it takes focus, arrow keys and a finger without touching the page's scroll.
 */
import { Color, type Scene } from "three";
import { project, type Vec3, type View } from "../math/view";
import { LineMaterial, LineSet } from "./lines";
import type { Plane } from "./placement";
import { FOV } from "./poses";
import type { Room } from "./themes";

/** How far the frame stands off the package at its sides and top, in mm. */
export const FRAME_SIDE = 2.5;
export const FRAME_TOP = 2.5;
const KEY_STEP = 0.02;
const KEY_LEAP = 0.1;
const GRIP_PX = 30;

export interface HandleEvents {
  /** A new place of the plane, −1 … 1. */
  onMove: (at: number) => void;
}

export class CutHandle {
  private readonly look = new LineMaterial(0.3);
  private readonly frame = new LineSet(this.look.material, 4);
  private readonly grip = document.createElement("div");
  private readonly control = new AbortController();
  private plane: Plane | null = null;
  private half = 1;
  private view: View | null = null;
  private size = { width: 1, height: 1 };
  private middle: Vec3 = [0, 0, 0];
  private held: { x: number; y: number; at: number } | null = null;

  constructor(
    host: HTMLElement,
    scene: Scene,
    private readonly events: HandleEvents,
  ) {
    this.frame.count = 4;
    this.frame.mesh.renderOrder = 6;
    scene.add(this.frame.mesh);
    const { grip } = this;
    grip.className = "stand-cut-grip";
    grip.tabIndex = 0;
    grip.setAttribute("role", "slider");
    grip.setAttribute("aria-label", "Plane of the cut");
    grip.setAttribute("aria-valuemin", "-100");
    grip.setAttribute("aria-valuemax", "100");
    grip.textContent = "⇔";
    Object.assign(grip.style, {
      position: "absolute",
      left: "0",
      top: "0",
      width: `${GRIP_PX}px`,
      height: `${GRIP_PX}px`,
      boxSizing: "border-box",
      borderRadius: "50%",
      font: `600 ${GRIP_PX * 0.55}px/1 system-ui, sans-serif`,
      display: "none",
      placeItems: "center",
      userSelect: "none",
      touchAction: "none",
      cursor: "grab",
    });
    host.append(grip);
    const signal = this.control.signal;
    grip.addEventListener("pointerdown", this.down, { signal });
    grip.addEventListener("pointermove", this.move, { signal });
    for (const end of ["pointerup", "pointercancel"] as const) grip.addEventListener(end, this.up, { signal });
    grip.addEventListener("keydown", this.key, { signal });
  }

  setRoom(room: Room): void {
    this.look.look.tint.value = new Color(room.accent);
    this.look.look.width.value = room.edgeWidth * 1.6;
    this.look.look.opacity.value = 0.95;
    Object.assign(this.grip.style, {
      background: room.accent,
      color: room.paper.startsWith("rgba(30") ? "#14161a" : "#ffffff",
      border: `2px solid ${room.paper.startsWith("rgba(30") ? "#14161a" : "#ffffff"}`,
    });
  }

  /** `half`: half the package's width on the plane's axis; `low`, `high`: heights of the frame, in mm. */
  show(plane: Plane | null, half: number, low: number, high: number, view: View, width: number, height: number): void {
    this.plane = plane;
    this.half = half;
    this.view = view;
    this.size = { width, height };
    this.look.resize(width, height);
    this.frame.mesh.visible = plane !== null;
    this.grip.style.display = plane ? "grid" : "none";
    if (!plane) return;
    const reach = half + FRAME_SIDE;
    const corner = (u: number, y: number): Vec3 => (plane.axis === 0 ? [plane.at, y, u] : [u, y, plane.at]);
    const corners = [corner(-reach, low), corner(reach, low), corner(reach, high), corner(-reach, high)];
    corners.forEach((from, i) => {
      this.frame.segment(i, from, corners[(i + 1) % 4] as Vec3);
      this.frame.colour(i, -1, 0, 0, 1);
    });
    this.middle = corner(0, high);
    const at = this.onScreen(this.middle);
    const inside = (value: number, most: number) => Math.min(Math.max(value - GRIP_PX / 2, 4), most - GRIP_PX - 4);
    this.grip.style.transform = `translate(${inside(at[0], width).toFixed(1)}px, ${inside(at[1], height).toFixed(1)}px)`;
    const percent = Math.round((plane.at / half) * 100);
    this.grip.setAttribute("aria-valuenow", String(percent));
    this.grip.setAttribute("aria-valuetext", `${Math.round(plane.at * 10) / 10} mm from the middle`);
  }

  dispose(): void {
    this.control.abort();
    this.grip.remove();
    this.frame.mesh.removeFromParent();
    this.frame.dispose();
    this.look.material.dispose();
  }

  private onScreen(place: Vec3): [number, number] {
    const { width, height } = this.size;
    const { x, y } = project(place, this.view as View, { fov: FOV, aspect: width / height });
    return [((x + 1) / 2) * width, ((1 - y) / 2) * height];
  }

  /** Where on the screen the grip goes when the plane moves on by 1 mm, in px. */
  private pull(): [number, number] {
    const axis = (this.plane as Plane).axis;
    const ahead = this.middle.map((value, i) => (i === axis ? value + 1 : value)) as unknown as Vec3;
    const [ax, ay] = this.onScreen(this.middle);
    const [bx, by] = this.onScreen(ahead);
    return [bx - ax, by - ay];
  }

  private readonly down = (event: PointerEvent): void => {
    if (event.button !== 0 || !this.plane) return;
    event.stopPropagation();
    this.grip.setPointerCapture(event.pointerId);
    this.grip.style.cursor = "grabbing";
    this.held = { x: event.clientX, y: event.clientY, at: this.plane.at };
  };

  private readonly move = (event: PointerEvent): void => {
    if (!this.held || !this.plane) return;
    const [px, py] = this.pull();
    // Seen along its axis the plane hardly moves on the screen: the pointer then counts as if it did a little.
    const length = Math.max(Math.hypot(px, py), 1.5);
    const moved = ((event.clientX - this.held.x) * px + (event.clientY - this.held.y) * py) / length ** 2;
    this.to(this.held.at + moved);
  };

  private readonly up = (): void => {
    this.held = null;
    this.grip.style.cursor = "grab";
  };

  private readonly key = (event: KeyboardEvent): void => {
    if (!this.plane || event.altKey || event.ctrlKey || event.metaKey) return;
    const step = event.shiftKey ? KEY_LEAP : KEY_STEP;
    const steps: Record<string, number> = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step };
    const by = steps[event.key];
    if (event.key === "Home") this.to(-this.half);
    else if (event.key === "End") this.to(this.half);
    else if (event.key === "PageDown" || event.key === "PageUp")
      this.to(this.plane.at + (event.key === "PageUp" ? KEY_LEAP : -KEY_LEAP) * this.half);
    else if (by !== undefined) this.to(this.plane.at + by * this.half);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  private to(mm: number): void {
    this.events.onMove(Math.min(1, Math.max(-1, mm / this.half)));
  }
}
