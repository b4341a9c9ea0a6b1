/* The clock of a schedule: play, pause, step, jump. It asks for frames only while it plays. */

/** A schedule of 8 × 8 score blocks advances this many steps a second; larger grids keep the pace per row. */
export const STEPS_PER_SECOND = 6;
const LONGEST_FRAME_S = 0.1;

export interface PlayerView {
  time: number;
  length: number;
  playing: boolean;
}

export class Player {
  private time = 0;
  private length = 0;
  /** Steps a second. */
  pace = STEPS_PER_SECOND;
  private frame = 0;
  private last = 0;

  constructor(private readonly changed: (view: PlayerView) => void) {
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.pause();
    });
  }

  get view(): PlayerView {
    return { time: this.time, length: this.length, playing: this.frame !== 0 };
  }

  /** Takes on a schedule of `length` steps and stands at `time`. */
  load(length: number, time: number, pace = this.pace): void {
    this.stop();
    this.length = length;
    this.pace = pace;
    this.seek(time);
  }

  play(): void {
    if (this.length === 0 || this.frame) return;
    if (this.time >= this.length) this.time = 0;
    this.last = performance.now();
    this.frame = requestAnimationFrame(this.tick);
    this.changed(this.view);
  }

  pause(): void {
    if (!this.frame) return;
    this.stop();
    this.changed(this.view);
  }

  seek(time: number): void {
    this.time = Math.min(this.length, Math.max(0, time));
    this.changed(this.view);
  }

  /** To the next (or previous) whole step. */
  step(direction: 1 | -1): void {
    this.stop();
    this.seek(direction > 0 ? Math.floor(this.time) + 1 : Math.ceil(this.time) - 1);
  }

  private stop(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  private readonly tick = (now: number): void => {
    const seconds = Math.min(LONGEST_FRAME_S, (now - this.last) / 1000);
    this.last = now;
    this.time = Math.min(this.length, this.time + seconds * this.pace);
    this.frame = this.time < this.length ? requestAnimationFrame(this.tick) : 0;
    this.changed(this.view);
  };
}
