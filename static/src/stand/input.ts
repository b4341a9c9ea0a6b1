/*
 * The reader's hands: drag, arrow keys, two fingers, ctrl + wheel. The page keeps its own scroll: a plain wheel is never
 * touched and one finger moves the page up and down (touch-action: pan-y). Reports turns and taps, holds no camera.
 */

export interface InputHandlers {
  /** Angles in radians, zoom as a ratio (above 1: further away). */
  onOrbit: (turn: number, rise: number, zoom: number) => void;
  /** Pointer in px from the canvas' top left, or null when it has left. */
  onHover: (at: { x: number; y: number } | null) => void;
  onTap: (at: { x: number; y: number }) => void;
  /** Escape. */
  onRelease: () => void;
}

/** A full drag across the canvas turns by this much, in radians. */
const TURN_PER_WIDTH = 3.2;
const RISE_PER_HEIGHT = 1.8;
const KEY_TURN = 0.12;
const KEY_RISE = 0.08;
const KEY_ZOOM = 1.12;
/** Movement below this many px is a tap. */
const TAP_PX = 5;

export class Input {
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private travelled = 0;
  private readonly control = new AbortController();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly handlers: InputHandlers,
  ) {
    canvas.style.touchAction = "pan-y";
    const signal = this.control.signal;
    canvas.addEventListener("pointerdown", this.down, { signal });
    canvas.addEventListener("pointermove", this.move, { signal });
    canvas.addEventListener("pointerup", this.up, { signal });
    canvas.addEventListener("pointercancel", this.cancel, { signal });
    canvas.addEventListener("pointerleave", () => handlers.onHover(null), { signal });
    canvas.addEventListener("keydown", this.key, { signal });
    canvas.addEventListener("wheel", this.wheel, { signal, passive: false });
    // Two fingers belong to the stand; without this the browser would take them for zooming the page.
    canvas.addEventListener("touchmove", (event) => event.touches.length > 1 && event.preventDefault(), {
      signal,
      passive: false,
    });
  }

  dispose(): void {
    this.control.abort();
  }

  private at(event: PointerEvent): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private readonly down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    this.pointers.set(event.pointerId, this.at(event));
    this.travelled = 0;
    if (event.pointerType !== "touch") this.canvas.setPointerCapture(event.pointerId);
  };

  private readonly move = (event: PointerEvent): void => {
    const now = this.at(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") this.handlers.onHover(now);
      return;
    }
    const dx = now.x - before.x;
    const dy = now.y - before.y;
    this.travelled += Math.hypot(dx, dy);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    this.pointers.set(event.pointerId, now);
    if (this.travelled < TAP_PX) return;
    const width = this.canvas.clientWidth || 1;
    const height = this.canvas.clientHeight || 1;
    const other = others[0]?.[1];
    if (!other) {
      // One finger only turns: its up and down is the page's.
      const rise = event.pointerType === "touch" ? 0 : (dy / height) * RISE_PER_HEIGHT;
      this.handlers.onOrbit((-dx / width) * TURN_PER_WIDTH, rise, 1);
      return;
    }
    const spread = Math.hypot(now.x - other.x, now.y - other.y);
    const wasSpread = Math.hypot(before.x - other.x, before.y - other.y);
    this.handlers.onOrbit(
      (-dx / 2 / width) * TURN_PER_WIDTH,
      (dy / 2 / height) * RISE_PER_HEIGHT,
      spread > 0 ? wasSpread / spread : 1,
    );
  };

  private readonly up = (event: PointerEvent): void => {
    if (this.pointers.delete(event.pointerId) && this.travelled < TAP_PX) this.handlers.onTap(this.at(event));
  };

  private readonly cancel = (event: PointerEvent): void => {
    this.pointers.delete(event.pointerId);
  };

  private readonly wheel = (event: WheelEvent): void => {
    // Trackpads report a pinch as ctrl + wheel.
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.handlers.onOrbit(0, 0, Math.exp(event.deltaY * 0.004));
  };

  private readonly key = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { onOrbit, onRelease } = this.handlers;
    const keys: Record<string, () => void> = {
      ArrowLeft: () => onOrbit(-KEY_TURN, 0, 1),
      ArrowRight: () => onOrbit(KEY_TURN, 0, 1),
      ArrowUp: () => onOrbit(0, KEY_RISE, 1),
      ArrowDown: () => onOrbit(0, -KEY_RISE, 1),
      "+": () => onOrbit(0, 0, 1 / KEY_ZOOM),
      "=": () => onOrbit(0, 0, 1 / KEY_ZOOM),
      "-": () => onOrbit(0, 0, KEY_ZOOM),
      Escape: onRelease,
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
}
