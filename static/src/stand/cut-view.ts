/*
 * The cut as it is drawn: every body the plane passes through is replaced by the half that is kept, in its own material,
 * and by its section with a hatch, all sections of a group in one mesh. Cut on the processor from the very triangles
 * that are drawn, so instanced joints need no special care, and shadow, occlusion and picking none at all.
 */
import {
  Color,
  InstancedMesh,
  type IUniform,
  type Material,
  Matrix3,
  Matrix4,
  Mesh,
  ShaderMaterial,
  Vector3,
} from "three";
import { GrowingGeometry } from "./cut-mesh";
import type { GroupName } from "./explode";
import {
  FACE_FRAGMENT,
  FACE_VERTEX,
  FACES_CUT,
  faceOf,
  groundOf,
  HATCHES,
  MOST_FACES,
  MOST_PARTS,
  RANK_STEP,
} from "./hatch";
import type { Body, PackageModel } from "./package";
import { layerRise, type Plane, type Shape } from "./placement";
import type { PlainLight } from "./plain-material";
import { fillOutline, keptHalf, outlineOf, type Solid, type Trapezoid } from "./section";
import type { Theme } from "./types";

/** The section of one body, for callouts: strips relative to the body, and where it stands on the face. */
export interface CutFace {
  body: Body;
  strips: readonly Trapezoid[];
  u: number;
  y: number;
}

/** A body cut: its section, and the kept half as x y z nx ny nz a corner. Places relative to the body's. */
interface Halved {
  strips: Trapezoid[];
  /** The lesser of the section's width and height. */
  thickness: number;
  half: Float32Array;
}

interface Half {
  mesh: InstancedMesh;
  growing: GrowingGeometry;
  material: string;
  /** Part of each run of corners. */
  runs: { part: string; first: number; count: number }[];
}

/** Lines of a hatch come about this far apart on the screen, in CSS px. */
const HATCH_PX = 9;

/** How far a part is faded, and how much it glows. */
export type StateOf = (part: string) => readonly [number, number];

export class CutView {
  readonly faces: CutFace[] = [];
  private readonly caps = new Map<GroupName, { mesh: Mesh; growing: GrowingGeometry }>();
  private readonly halves = new Map<string, Half>();
  private readonly solids = new Map<string, Solid>();
  /** Geometry, turn and size of a body as a key: worked out once. */
  private readonly shapes = new WeakMap<Body, string>();
  private readonly partIds: string[];
  private readonly faceNames = Object.keys(FACES_CUT);
  private readonly uniforms: Record<string, IUniform>;
  private readonly material: ShaderMaterial;

  constructor(
    private readonly model: PackageModel,
    light: PlainLight,
    private dress: (name: string) => Material,
  ) {
    this.partIds = [...model.parts.keys()];
    const colours = () => Array.from({ length: MOST_FACES }, () => new Vector3());
    this.uniforms = {
      uStates: { value: new Float32Array(MOST_PARTS * 2) },
      uGrounds: { value: colours() },
      uInks: { value: colours() },
      uHatches: { value: this.faceNames.map((name) => HATCHES.indexOf(faceOf(name).hatch)) },
      uGrain: { value: 1 },
      uScale: { value: 1 },
      uVeil: light.uVeil,
      uGlow: light.uGlow,
    };
    const hatches = (this.uniforms.uHatches as IUniform<number[]>).value;
    while (hatches.length < MOST_FACES) hatches.push(0);
    this.material = new ShaderMaterial({
      uniforms: this.uniforms,
      vertexShader: FACE_VERTEX,
      fragmentShader: FACE_FRAGMENT,
    });
  }

  /** Gives the halves the materials of a tier. */
  setDress(dress: (name: string) => Material): void {
    this.dress = dress;
    for (const half of this.halves.values()) half.mesh.material = dress(half.material);
  }

  setTheme(theme: Theme): void {
    const colour = new Color();
    this.faceNames.forEach((name, i) => {
      const face = faceOf(name);
      const write = (uniform: string, value: string) => {
        colour.set(value);
        ((this.uniforms[uniform] as IUniform<Vector3[]>).value[i] as Vector3).set(colour.r, colour.g, colour.b);
      };
      write("uGrounds", groundOf(face, theme));
      write("uInks", face.ink);
    });
  }

  /** Sizes the hatch for a view. `pxPerMm`: at the middle of the package, in CSS px. */
  setGrain(pxPerMm: number, scale: number): void {
    (this.uniforms.uGrain as IUniform<number>).value = 2 ** Math.round(Math.log2(HATCH_PX / pxPerMm));
    (this.uniforms.uScale as IUniform<number>).value = scale;
  }

  /** Cuts these bodies, or, without a plane, puts everything away. */
  show(crossing: readonly Body[], shape: Shape, stateOf: StateOf): void {
    const { plane } = shape;
    this.faces.length = 0;
    for (const { growing } of this.caps.values()) growing.count = 0;
    for (const half of this.halves.values()) {
      half.growing.count = 0;
      half.runs.length = 0;
    }
    if (plane) {
      const known = new Map<string, Halved>();
      for (const body of crossing) {
        const rise = layerRise(body.layer, shape);
        const halved = this.halve(body, plane, known);
        this.addCap(body, halved, plane, rise);
        if (!body.inside) this.addHalf(body, halved, rise);
      }
    }
    for (const { mesh, growing } of this.caps.values()) {
      growing.finish();
      mesh.visible = growing.count > 0;
    }
    for (const { mesh, growing } of this.halves.values()) {
      growing.finish();
      mesh.visible = growing.count > 0;
    }
    this.setStates(stateOf);
  }

  /** Writes how far each part is faded and how much it glows. */
  setStates(stateOf: StateOf): void {
    const states = (this.uniforms.uStates as IUniform<Float32Array>).value;
    this.partIds.forEach((id, i) => {
      states.set(stateOf(id), i * 2);
    });
    for (const { growing, runs } of this.halves.values()) {
      const array = growing.array("aState");
      for (const { part, first, count } of runs) {
        const [veil, glow] = stateOf(part);
        for (let i = first; i < first + count; i++) {
          array[i * 2] = veil;
          array[i * 2 + 1] = glow;
        }
      }
      growing.touch("aState");
    }
  }

  dispose(): void {
    for (const { mesh, growing } of this.caps.values()) {
      mesh.removeFromParent();
      growing.geometry.dispose();
    }
    for (const { mesh, growing } of this.halves.values()) {
      mesh.removeFromParent();
      growing.geometry.dispose();
      mesh.dispose();
    }
    this.material.dispose();
  }

  /** Bodies of one shape that stand alike towards the plane are cut once. */
  private halve(body: Body, plane: Plane, known: Map<string, Halved>): Halved {
    const e = body.matrix.elements;
    let shape = this.shapes.get(body);
    if (shape === undefined) {
      const turned = [0, 1, 2, 4, 5, 6, 8, 9, 10].map((i) => (e[i] as number).toFixed(5)).join();
      shape = `${body.geometry.uuid} ${body.inside} ${turned}`;
      this.shapes.set(body, shape);
    }
    const at = plane.at - (e[12 + plane.axis] as number);
    const key = `${shape} ${Math.round(at * 1e4)}`;
    const before = known.get(key);
    if (before) return before;
    let solid = this.solids.get(shape);
    if (!solid) {
      solid = solidOf(body);
      this.solids.set(shape, solid);
    }
    const strips = fillOutline(outlineOf(solid, plane.axis, at));
    const halved = {
      strips,
      thickness: thicknessOf(strips),
      half: body.inside ? new Float32Array() : keptHalf(solid, plane.axis, at),
    };
    known.set(key, halved);
    return halved;
  }

  private addCap(body: Body, { strips, thickness }: Halved, plane: Plane, rise: number): void {
    const { growing } = this.capOf(body.group);
    const { axis } = plane;
    const across = axis === 0 ? 2 : 0;
    const shiftU = body.matrix.elements[12 + across] as number;
    const shiftY = (body.matrix.elements[13] as number) + rise;
    this.faces.push({ body, strips, u: shiftU, y: shiftY });
    const face = Math.max(0, this.faceNames.indexOf(body.material));
    const part = this.partIds.indexOf(body.part);
    const out = plane.at + (faceOf(body.material).rank + (body.inside ? 2 : 0)) * RANK_STEP;
    let at = growing.take(strips.length * 6);
    const position = growing.array("position");
    const normal = growing.array("normal");
    const uv = growing.array("uv");
    const kinds = growing.array("aKind");
    const put = (u: number, y: number) => {
      position[at * 3 + axis] = out;
      position[at * 3 + 1] = y + shiftY;
      position[at * 3 + across] = u + shiftU;
      normal[at * 3] = axis === 0 ? 1 : 0;
      normal[at * 3 + 1] = 0;
      normal[at * 3 + 2] = axis === 2 ? 1 : 0;
      uv[at * 2] = axis === 2 ? u + shiftU : -u - shiftU;
      uv[at * 2 + 1] = y + shiftY - rise;
      kinds[at * 3] = face;
      kinds[at * 3 + 1] = part;
      kinds[at * 3 + 2] = thickness;
      at++;
    };
    for (const { u0, low0, high0, u1, low1, high1 } of strips) {
      // A plane of x is seen with z to the left: its corners turn the other way.
      const [a, b] = axis === 2 ? [u0, u1] : [u1, u0];
      const [lowA, highA, lowB, highB] = axis === 2 ? [low0, high0, low1, high1] : [low1, high1, low0, high0];
      put(a, lowA);
      put(b, lowB);
      put(b, highB);
      put(a, lowA);
      put(b, highB);
      put(a, highA);
    }
  }

  private addHalf(body: Body, { half }: Halved, rise: number): void {
    const { growing, runs } = this.halfOf(body.group, body.material);
    const count = half.length / 6;
    const first = growing.take(count);
    const position = growing.array("position");
    const normal = growing.array("normal");
    const [x, y, z] = [12, 13, 14].map((i) => body.matrix.elements[i] as number) as [number, number, number];
    for (let i = 0; i < count; i++) {
      const to = (first + i) * 3;
      position[to] = (half[i * 6] as number) + x;
      position[to + 1] = (half[i * 6 + 1] as number) + y + rise;
      position[to + 2] = (half[i * 6 + 2] as number) + z;
      normal[to] = half[i * 6 + 3] as number;
      normal[to + 1] = half[i * 6 + 4] as number;
      normal[to + 2] = half[i * 6 + 5] as number;
    }
    const last = runs[runs.length - 1];
    if (last && last.part === body.part) last.count += count;
    else runs.push({ part: body.part, first, count });
  }

  private capOf(group: GroupName): { mesh: Mesh; growing: GrowingGeometry } {
    const known = this.caps.get(group);
    if (known) return known;
    const growing = new GrowingGeometry({ position: 3, normal: 3, uv: 2, aKind: 3 });
    const mesh = new Mesh(growing.geometry, this.material);
    mesh.frustumCulled = false;
    mesh.castShadow = true;
    mesh.name = `cut_${group}`;
    this.model.groups[group].add(mesh);
    const made = { mesh, growing };
    this.caps.set(group, made);
    return made;
  }

  private halfOf(group: GroupName, material: string): Half {
    const key = `${group} ${material}`;
    const known = this.halves.get(key);
    if (known) return known;
    const growing = new GrowingGeometry({ position: 3, normal: 3, aState: 2 });
    // One copy at the origin: the materials are made for instances.
    const mesh = new InstancedMesh(growing.geometry, this.dress(material), 1);
    mesh.setMatrixAt(0, new Matrix4());
    mesh.frustumCulled = false;
    mesh.receiveShadow = true;
    mesh.castShadow = material !== "solder";
    mesh.name = `half_${group}_${material}`;
    this.model.groups[group].add(mesh);
    const half: Half = { mesh, growing, material, runs: [] };
    this.halves.set(key, half);
    return half;
  }
}

/** The lesser of a section's width and height, in mm. */
function thicknessOf(strips: readonly Trapezoid[]): number {
  const first = strips[0];
  const last = strips[strips.length - 1];
  if (!first || !last) return 0;
  const high = Math.max(...strips.map(({ high0, high1 }) => Math.max(high0, high1)));
  const low = Math.min(...strips.map(({ low0, low1 }) => Math.min(low0, low1)));
  return Math.min(last.u1 - first.u0, high - low);
}

/** A body's triangles with its turn and size applied, but not its place. */
function solidOf(body: Body): Solid {
  const position = body.geometry.getAttribute("position");
  const normal = body.geometry.getAttribute("normal");
  const linear = body.matrix.clone().setPosition(0, 0, 0);
  const upright = new Matrix3().getNormalMatrix(linear);
  const positions = new Float32Array(position.count * 3);
  const normals = new Float32Array(position.count * 3);
  const v = new Vector3();
  for (let i = 0; i < position.count; i++) {
    v.fromBufferAttribute(position, i)
      .applyMatrix4(linear)
      .toArray(positions, i * 3);
    v.fromBufferAttribute(normal, i)
      .applyMatrix3(upright)
      .normalize()
      .toArray(normals, i * 3);
  }
  return { positions, normals, index: body.geometry.getIndex()?.array ?? [] };
}
