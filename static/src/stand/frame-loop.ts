/*
 * When a frame is drawn: only after something was set, or while a transition runs; never while the page is hidden or
 * the stand is off screen. A request made then is kept and served when the stand is seen again.
 */

/** Draws one frame; true while another one is needed. */
export type DrawFrame = (nowMs: number, deltaMs: number) => boolean;

/** A pause longer than this is not a slow frame but a pause; transitions go on from where they were. */
const LONGEST_STEP_MS = 200;

export class FrameLoop {
  /** Frames drawn so far. */
  frames = 0;
  private wanted = false;
  private handle = 0;
  private lastMs: number | null = null;
  private onScreen = true;
  private stopped = false;
  private waiting: (() => void)[] = [];
  private readonly seen: IntersectionObserver;

  constructor(
    host: Element,
    private readonly draw: DrawFrame,
    /** Time between two frames of a running transition, for choosing the tier. */
    private readonly onInterval: (ms: number) => void,
  ) {
    this.seen = new IntersectionObserver((entries) => {
      this.onScreen = entries[entries.length - 1]?.isIntersecting ?? true;
      this.schedule();
    });
    this.seen.observe(host);
    document.addEventListener("visibilitychange", this.schedule);
  }

  get visible(): boolean {
    return this.onScreen && !document.hidden;
  }

  request(): void {
    this.wanted = true;
    this.schedule();
  }

  /** Resolves once nothing is left to draw, or at once while nothing can be drawn. */
  settled(): Promise<void> {
    if (!this.wanted || !this.visible || this.stopped) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  stop(): void {
    this.stopped = true;
    cancelAnimationFrame(this.handle);
    this.handle = 0;
    this.seen.disconnect();
    document.removeEventListener("visibilitychange", this.schedule);
    this.release();
  }

  private readonly schedule = (): void => {
    if (this.stopped) return;
    if (!this.visible) {
      cancelAnimationFrame(this.handle);
      this.handle = 0;
      this.lastMs = null;
      this.release();
      return;
    }
    if (this.wanted && this.handle === 0) this.handle = requestAnimationFrame(this.frame);
  };

  private readonly frame = (nowMs: number): void => {
    this.handle = 0;
    const delta = this.lastMs === null ? 16 : nowMs - this.lastMs;
    if (this.lastMs !== null && delta < 2000) this.onInterval(delta);
    this.wanted = false;
    this.frames++;
    const more = this.draw(nowMs, Math.min(delta, LONGEST_STEP_MS));
    if (more) this.wanted = true;
    if (this.wanted) {
      this.lastMs = nowMs;
      this.schedule();
    } else {
      this.lastMs = null;
      this.release();
    }
  };

  private release(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
