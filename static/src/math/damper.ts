/*
 * A critically damped follower: the value closes on its goal without overshoot and at a pace that does not depend
 * on how often it is asked. Used where the goal itself moves, such as a lever under the reader's finger.
 */

/** Below this distance from the goal the value is put on it, so that a follower always comes to rest. */
const REST = 1e-4;

export class Damper {
  value: number;
  goal: number;
  private speed = 0;

  /** `settleMs`: about how long a step change takes to come within two percent of the goal. */
  constructor(
    value: number,
    private readonly settleMs: number,
  ) {
    this.value = value;
    this.goal = value;
  }

  get resting(): boolean {
    return this.value === this.goal && this.speed === 0;
  }

  /** Puts the value on the goal at once. */
  finish(): void {
    this.value = this.goal;
    this.speed = 0;
  }

  /** Moves on by `deltaMs`: the exact solution of the damped spring, whatever the step. Returns the value. */
  update(deltaMs: number): number {
    if (this.resting) return this.value;
    // A critically damped spring is within two percent after 5.83 time constants.
    const rate = 5.83 / this.settleMs;
    const offset = this.value - this.goal;
    const drive = this.speed + rate * offset;
    const decay = Math.exp(-rate * deltaMs);
    const next = (offset + drive * deltaMs) * decay;
    this.speed = (this.speed - rate * drive * deltaMs) * decay;
    this.value = this.goal + next;
    if (Math.abs(next) < REST && Math.abs(this.speed) * this.settleMs < REST * 10) this.finish();
    return this.value;
  }
}
