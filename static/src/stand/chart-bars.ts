/*
 * Bars that stand on the package: a row of them over the die, or two columns beside it. They grow from where they were
 * to where they are told to be; one that waits for its turn is grey.
 */
import { BoxGeometry, Color, DynamicDrawUsage, InstancedMesh, Matrix4, MeshStandardMaterial } from "three";
import { Damper } from "../math/damper";
import type { Box, Vec3 } from "../math/view";
import { FACES } from "./tile-atlas";
import type { Bar } from "./types";

/** More bars than a row of the text has. */
const MOST = 16;
const GROWING_MS = 350;
const STUB = 0.25;
const WAITING = new Color("#9a9a96");

export interface BarsPlace {
  /** Middle of the bars' feet. */
  at: Vec3;
  /** From the middle of the first bar to the middle of the last one: along x, or along z for columns. */
  span: number;
  along: "x" | "z";
  width: number;
  height: number;
}

export class ChartBars {
  readonly mesh: InstancedMesh;
  private readonly material = new MeshStandardMaterial({ roughness: 0.75, envMapIntensity: 0.7 });
  private readonly heights = Array.from({ length: MOST }, () => new Damper(0, GROWING_MS));
  private readonly matrix = new Matrix4();
  private readonly colour = new Color();
  private bars: readonly Bar[] = [];

  constructor() {
    this.mesh = new InstancedMesh(new BoxGeometry(1, 1, 1).translate(0, 0.5, 0), this.material, MOST);
    this.mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = true;
    this.mesh.count = 0;
  }

  /** `cut`: be there at once. */
  set(bars: readonly Bar[], cut: boolean): void {
    this.bars = bars.slice(0, MOST);
    this.bars.forEach(({ share, tint, waiting }, i) => {
      const height = this.heights[i] as Damper;
      height.goal = Math.max(0, Math.min(1, share));
      if (cut) height.finish();
      this.mesh.setColorAt(i, waiting ? WAITING : this.colour.set(FACES[tint].colour));
    });
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
    this.mesh.count = this.bars.length;
  }

  /** True while a bar grows. */
  update(deltaMs: number, place: BarsPlace): boolean {
    let moving = false;
    this.bars.forEach((_, i) => {
      const height = this.heights[i] as Damper;
      const share = height.update(deltaMs);
      moving ||= !height.resting;
      const [x, y, z] = this.foot(i, place);
      this.matrix.makeScale(place.width, Math.max(STUB, share * place.height), place.width).setPosition(x, y, z);
      this.mesh.setMatrixAt(i, this.matrix);
    });
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.visible = this.bars.length > 0;
    return moving;
  }

  /** The middle of a bar's top, where it will be when it has grown. */
  top(bar: number, place: BarsPlace): Vec3 {
    const [x, y, z] = this.foot(bar, place);
    return [x, y + Math.max(STUB, (this.heights[bar]?.goal ?? 0) * place.height), z];
  }

  /** Room that the bars may take, however high they are now: the camera does not follow their growth. */
  box(place: BarsPlace): Box {
    const [x, y, z] = place.at;
    const half = place.span / 2 + place.width / 2;
    const [dx, dz] = place.along === "x" ? [half, place.width / 2] : [place.width / 2, half];
    return { min: [x - dx, y, z - dz], max: [x + dx, y + place.height, z + dz] };
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.material.dispose();
    this.mesh.dispose();
  }

  private foot(bar: number, { at: [x, y, z], span, along }: BarsPlace): Vec3 {
    const many = this.bars.length;
    const off = many > 1 ? span * (bar / (many - 1) - 0.5) : 0;
    return along === "x" ? [x + off, y, z] : [x, y, z + off];
  }
}
