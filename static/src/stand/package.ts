/*
 * The model, read once and put in order: every mesh becomes instances of (geometry, material) inside one of the groups
 * that move apart, so six alike stacks cost as many draw calls as one. Parts keep their names, facts and bounds.
 * The stand's world is millimetres; the file's root scale to metres is left out.
 */
import {
  type BufferGeometry,
  Group,
  InstancedBufferAttribute,
  InstancedMesh,
  type Material,
  Matrix4,
  type Vector3,
} from "three";
import { type Box, boxMoved, boxUnion, type Vec3 } from "../math/view";
import type { DiagramFacts } from "./diagram-layout";
import { GROUPS, type GroupName } from "./explode";
import { type GlbNode, readGlb } from "./glb";
import { OPENING_STACK } from "./placement";
import type { Part } from "./types";

/** Centre x, centre z, width, depth in mm, centred on the die. */
export type Region = readonly [number, number, number, number];
export type RegionKind = "l2" | "sm" | "gpc" | "tpc" | "memory_controller";

export interface PackagePart extends Part {
  group: GroupName;
  /** Assembled bounds in mm, one box per body. */
  boxes: Box[];
  bounds: Box;
  /** Of the stack that opens: the layer each body belongs to, 0 the base die, then the DRAM dies from the bottom up. */
  layers?: number[];
}

/** One solid: a geometry put in its place. Matrix and box are in the frame of its group, in mm. */
export interface Body {
  geometry: BufferGeometry;
  material: string;
  group: GroupName;
  matrix: Matrix4;
  part: string;
  box: Box;
  /** Layer of the stack that opens, or null. */
  layer: number | null;
  /** Writing that is true at one factor of thickness only; null for everything else. */
  factor: number | null;
  /** Lies within another solid: shows on a cut face only. */
  inside: boolean;
}

export interface PackageModel {
  groups: Record<GroupName, Group>;
  /** Each carries its bodies as `userData.bodies`. */
  meshes: InstancedMesh[];
  /** Vias within solids, for cut faces; those of the opening stack are also a mesh. */
  inside: Body[];
  /** How many times too tall thicknesses are drawn. */
  thicknessFactor: number;
  parts: Map<string, PackagePart>;
  regions: Record<RegionKind, Region[]>;
  /** What the block diagram says. */
  diagram: DiagramFacts;
  /** Height of the die's polished top in mm. */
  dieTop: number;
  bounds: Record<GroupName, Box>;
}

/** Joints and lanes that are covered while the package is closed: not drawn until it opens. */
const COVERED = new Set(["microbumps", "interposer_lanes", "c4_bumps"]);

/** Fields of joints that lie between two plates; the low tier draws their rim only, this deep in mm. */
const RIM_ONLY = new Set(["bga_balls", "c4_bumps"]);
const MANY = 400;
const RIM_MM = 2;

/** Gives a mesh the material of a name and tier. */
export type Dress = (name: string) => Material;

export async function loadPackage(url: string, dress: Dress): Promise<PackageModel> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the model ${url} cannot be fetched: ${response.status} ${response.statusText}`);
  return arrangePackage(await response.arrayBuffer(), dress);
}

function groupOf(node: GlbNode, root: GlbNode): GroupName {
  let top = node;
  while (top.parent && top.parent !== root) top = top.parent;
  const name = top.name;
  if (name.startsWith("hbm_stack_")) return Number(name.slice(10)) < 3 ? "stacks_left" : "stacks_right";
  if (name.startsWith("base")) return "base";
  if (name.startsWith("substrate")) return "substrate";
  if (name.startsWith("interposer")) return "interposer";
  if (name.startsWith("moulding")) return "moulding";
  if (name.startsWith("gpu_die")) return "gpu_die";
  throw new Error(`node "${name}" belongs to no group of the stand`);
}

function partOf(node: GlbNode): string {
  for (let at: GlbNode | null = node; at; at = at.parent) if (at.extras.part) return at.extras.part as string;
  return "";
}

/** The model from the bytes of its file. */
export function arrangePackage(bytes: ArrayBuffer, dress: Dress): PackageModel {
  const { root, nodes } = readGlb(bytes, "package");
  const pieces: Body[] = [];
  const inside: Body[] = [];
  const described = new Map<string, Part>();
  let regions: PackageModel["regions"] | null = null;
  let diagram: DiagramFacts | null = null;
  let dieTop = 0;
  for (const node of nodes) {
    const { part, title, what, facts } = node.extras as Partial<Part> & { part?: string };
    if (part && title && !described.has(part))
      described.set(part, { id: part, title, what: what ?? "", facts: facts ?? [] });
    if (node.extras.regions) {
      regions = node.extras.regions as PackageModel["regions"];
      diagram = node.extras.diagram as DiagramFacts;
      dieTop = node.extras.top_mm as number;
    }
    const { geometry, material } = node;
    if (!geometry) continue;
    const group = groupOf(node, root);
    const owner = partOf(node);
    node.copies.forEach((copy, i) => {
      const matrix = copy.premultiply(node.matrix);
      const box = boxOf(geometry, matrix, owner);
      const body: Body = {
        geometry,
        material,
        group,
        matrix,
        part: owner,
        box,
        layer: layerOf(node, i, root),
        factor: (node.extras.factor as number | undefined) ?? null,
        inside: false,
      };
      // Vias inside solids can only be seen on a cut face, or in the stack that opens.
      if (node.extras.inside) inside.push({ ...body, inside: true });
      if (!node.extras.inside || body.layer !== null) pieces.push(body);
    });
  }
  if (!regions || !diagram) throw new Error("no node of the model carries the die's regions");

  const groups = Object.fromEntries(GROUPS.map((name) => [name, new Group()])) as PackageModel["groups"];
  for (const name of GROUPS) groups[name].name = name;
  const parts = collectParts(pieces, described);
  const bounds = {} as PackageModel["bounds"];
  for (const part of parts.values())
    bounds[part.group] = bounds[part.group] ? boxUnion(bounds[part.group], part.bounds) : part.bounds;
  for (const name of GROUPS) if (!bounds[name]) throw new Error(`the model has nothing in the group "${name}"`);
  const meshes = instance(pieces, groups, dress);
  inside.push(...viasOfOtherStacks(inside, parts));
  const thicknessFactor = root.extras.thickness_factor as number;
  return { groups, meshes, inside, thicknessFactor, parts, regions, diagram, dieTop, bounds };
}

/** Layer of a copy in the stack that opens. */
function layerOf(node: GlbNode, copy: number, root: GlbNode): number | null {
  if (!node.name.startsWith(OPENING_STACK) || !node.geometry) return null;
  if (node.name.endsWith("_base_die")) return 0;
  if (node.name.endsWith("_tsvs")) return Math.floor(copy / (node.extras.copies_per_layer as number));
  return node.name.endsWith("_mark") ? (root.extras.dram_layers as number) : copy + 1;
}

/** Only the stack that opens has its vias in the file; on a cut face every stack shows them, at the same places. */
function viasOfOtherStacks(inside: readonly Body[], parts: ReadonlyMap<string, PackagePart>): Body[] {
  const home = parts.get(OPENING_STACK)?.bounds.min ?? [0, 0, 0];
  const vias = inside.filter(({ part }) => part === OPENING_STACK);
  return [...parts.values()]
    .filter(({ id }) => id.startsWith("hbm_stack_") && id !== OPENING_STACK)
    .flatMap(({ id, group, bounds }) => {
      const by: Vec3 = [bounds.min[0] - home[0], 0, bounds.min[2] - home[2]];
      return vias.map((via) => ({
        ...via,
        part: id,
        group,
        layer: null,
        matrix: new Matrix4().makeTranslation(...by).multiply(via.matrix),
        box: boxMoved(via.box, by),
      }));
    });
}

/** One instanced mesh for each geometry, material and group. */
function instance(pieces: readonly Body[], groups: PackageModel["groups"], dress: Dress): InstancedMesh[] {
  const alike = new Map<string, Body[]>();
  for (const piece of pieces) {
    const key = `${piece.group} ${piece.material} ${piece.geometry.uuid}`;
    const list = alike.get(key);
    if (list) list.push(piece);
    else alike.set(key, [piece]);
  }
  return [...alike.values()].map((list) => {
    const first = list[0] as Body;
    // A geometry used in two groups must not share its per-instance state.
    const geometry = first.geometry.clone();
    const mesh = new InstancedMesh(geometry, dress(first.material), list.length);
    const rim = list.length > MANY ? rimFirst(list) : list.length;
    list.forEach((piece, i) => {
      mesh.setMatrixAt(i, piece.matrix);
    });
    mesh.instanceMatrix.needsUpdate = true;
    geometry.setAttribute("aState", new InstancedBufferAttribute(new Float32Array(list.length * 2), 2));
    mesh.computeBoundingSphere();
    mesh.userData.parts = list.map((piece) => piece.part);
    // Joints in a field hide one another: from outside only the rim is seen.
    mesh.userData.rim = RIM_ONLY.has(first.part) ? rim : list.length;
    mesh.userData.material = first.material;
    mesh.userData.covered = list.every((piece) => COVERED.has(piece.part));
    mesh.userData.vias = first.material === "copper" && first.layer !== null;
    mesh.userData.bodies = list;
    // The layers of the stack that opens leave the bounds they were loaded with.
    mesh.userData.layered = list.some(({ layer }) => layer !== null);
    mesh.frustumCulled = !mesh.userData.layered;
    mesh.name = `${first.group}_${first.material}`;
    groups[first.group].add(mesh);
    return mesh;
  });
}

/** Sorts a field of joints so that the two outer rows come first; returns how many those are. */
function rimFirst(list: Body[]): number {
  const at = (piece: Body) => [piece.matrix.elements[12] as number, piece.matrix.elements[14] as number] as const;
  const [halfX, halfZ] = list.reduce(
    ([x, z], piece) => [Math.max(x, Math.abs(at(piece)[0])), Math.max(z, Math.abs(at(piece)[1]))],
    [0, 0],
  );
  const depth = (piece: Body) => Math.min(halfX - Math.abs(at(piece)[0]), halfZ - Math.abs(at(piece)[1]));
  list.sort((a, b) => depth(a) - depth(b));
  return list.filter((piece) => depth(piece) < RIM_MM).length;
}

function boxOf(geometry: BufferGeometry, matrix: Matrix4, part: string): Box {
  if (!geometry.boundingBox) geometry.computeBoundingBox();
  const box = geometry.boundingBox?.clone().applyMatrix4(matrix);
  if (!box || box.isEmpty()) throw new Error(`part "${part}" has an empty mesh`);
  return { min: vector(box.min), max: vector(box.max) };
}

function vector(v: Vector3): [number, number, number] {
  return [v.x, v.y, v.z];
}

function collectParts(pieces: readonly Body[], described: Map<string, Part>): Map<string, PackagePart> {
  const parts = new Map<string, PackagePart>();
  for (const piece of pieces) {
    const about = described.get(piece.part);
    if (!about) continue;
    const { box } = piece;
    const known = parts.get(piece.part);
    if (known) {
      known.boxes.push(box);
      known.bounds = boxUnion(known.bounds, box);
    } else parts.set(piece.part, { ...about, group: piece.group, boxes: [box], bounds: box });
    const part = parts.get(piece.part);
    if (part && piece.layer !== null) {
      part.layers ??= [];
      part.layers.push(piece.layer);
    }
  }
  return parts;
}
