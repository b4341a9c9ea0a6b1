/*
 * A mesh whose triangles are written anew whenever the cut moves: plain growing arrays behind one geometry. When an
 * array has to grow, what the device holds of the geometry is given back first, so nothing piles up.
 */
import { BufferAttribute, BufferGeometry, DynamicDrawUsage } from "three";

/** Corners there is room for at first. */
const FIRST = 2048;

export class GrowingGeometry {
  readonly geometry = new BufferGeometry();
  /** Corners written. */
  count = 0;
  private room = 0;
  private readonly arrays: Record<string, Float32Array> = {};

  /** `layout`: numbers a corner by attribute. */
  constructor(private readonly layout: Readonly<Record<string, number>>) {
    this.grow(FIRST);
  }

  array(name: string): Float32Array {
    return this.arrays[name] as Float32Array;
  }

  /** Makes room for some more corners and counts them as written; returns the index of the first. */
  take(corners: number): number {
    const first = this.count;
    this.count += corners;
    if (this.count > this.room) this.grow(Math.max(this.count, this.room * 2));
    return first;
  }

  /** What was written since `count` was last set to 0 is what is drawn. */
  finish(): void {
    this.geometry.setDrawRange(0, this.count);
    for (const name of Object.keys(this.layout)) this.touch(name);
  }

  touch(name: string): void {
    this.geometry.getAttribute(name).needsUpdate = true;
  }

  private grow(room: number): void {
    this.geometry.dispose();
    this.room = room;
    for (const [name, size] of Object.entries(this.layout)) {
      const array = new Float32Array(room * size);
      const before = this.arrays[name];
      if (before) array.set(before);
      this.arrays[name] = array;
      this.geometry.setAttribute(name, new BufferAttribute(array, size).setUsage(DynamicDrawUsage));
    }
  }
}
