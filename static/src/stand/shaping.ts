/*
 * The levers in motion: explode, thickness, opening and the plane of the cut follow what the state asks for, and give
 * the one description of the package that everything else reads. The same description is given while nothing moves.
 */
import { Damper } from "../math/damper";
import type { Vec3 } from "../math/view";
import { CLOSED, planeOf, type Shape, scaleOf } from "./placement";
import type { Cut, StandState } from "./types";

const EXPLODE_MS = 650;
const OPEN_MS = 700;
const THICKNESS_MS = 450;
/** Short: the plane is under the reader's finger. */
const CUT_MS = 180;

export class Shaping {
  shape: Shape = CLOSED;
  private readonly explode: Damper;
  private readonly open: Damper;
  private readonly thickness: Damper;
  private readonly at: Damper;
  private axis: Cut["axis"] | null = null;
  private leaving = false;

  /** `half`: half the package's width on each axis in mm; `factor`: how many times too tall it is drawn. */
  constructor(
    state: StandState,
    private readonly half: Vec3,
    private readonly factor: number,
  ) {
    this.explode = new Damper(state.explode, EXPLODE_MS);
    this.open = new Damper(state.open ?? 0, OPEN_MS);
    this.thickness = new Damper(state.thickness ?? 1, THICKNESS_MS);
    this.at = new Damper(1, CUT_MS);
    this.follow(state);
    this.finish();
  }

  follow(state: StandState): void {
    this.explode.goal = state.explode;
    this.open.goal = state.open ?? 0;
    this.thickness.goal = state.thickness ?? 1;
    const cut = state.cut ?? null;
    this.leaving = cut === null;
    if (cut && cut.axis !== this.axis) {
      // A new plane comes in from the side it takes away.
      this.axis = cut.axis;
      this.at.goal = 1;
      this.at.finish();
    }
    this.at.goal = cut ? cut.at : 1;
  }

  /** Puts every lever where the state wants it. */
  finish(): void {
    for (const damper of [this.explode, this.open, this.thickness, this.at]) damper.finish();
  }

  /** Moves on; true while something is still moving. `canCut`: what draws cuts has been fetched. */
  update(deltaMs: number, hidden: ReadonlySet<string>, canCut: boolean): boolean {
    this.explode.update(deltaMs);
    this.open.update(deltaMs);
    this.thickness.update(deltaMs);
    if (canCut) this.at.update(deltaMs);
    if (this.leaving && this.at.resting) this.axis = null;
    const cut = this.axis && canCut ? { axis: this.axis, at: this.at.value } : null;
    const next: Shape = {
      explode: this.explode.value,
      scale: scaleOf(this.thickness.value, this.factor),
      open: this.open.value,
      plane: planeOf(cut, this.half),
      hidden,
    };
    if (!same(next, this.shape)) this.shape = next;
    const cutting = canCut && !this.at.resting;
    return cutting || [this.explode, this.open, this.thickness].some((damper) => !damper.resting);
  }
}

function same(a: Shape, b: Shape): boolean {
  return (
    a.explode === b.explode &&
    a.scale === b.scale &&
    a.open === b.open &&
    a.hidden === b.hidden &&
    a.plane?.axis === b.plane?.axis &&
    a.plane?.at === b.plane?.at
  );
}
