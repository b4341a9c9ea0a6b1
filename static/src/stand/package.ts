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
  type Matrix4,
  type Vector3,
} from "three";
import { type Box, boxUnion } from "../math/view";
import { GROUPS, type GroupName } from "./explode";
import { type GlbNode, readGlb } from "./glb";
import type { Part } from "./types";

/** Centre x, centre z, width, depth in mm, centred on the die. */
export type Region = readonly [number, number, number, number];
export type RegionKind = "l2" | "sm" | "gpc" | "tpc" | "memory_controller";

export interface PackagePart extends Part {
  group: GroupName;
  /** Assembled bounds in mm, one box per body. */
  boxes: Box[];
  bounds: Box;
}

export interface PackageModel {
  groups: Record<GroupName, Group>;
  meshes: InstancedMesh[];
  parts: Map<string, PackagePart>;
  regions: Record<RegionKind, Region[]>;
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

interface Piece {
  geometry: BufferGeometry;
  material: string;
  group: GroupName;
  matrix: Matrix4;
  part: string;
}

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
  const pieces: Piece[] = [];
  const described = new Map<string, Part>();
  let regions: PackageModel["regions"] | null = null;
  let dieTop = 0;
  for (const node of nodes) {
    const { part, title, what, facts } = node.extras as Partial<Part> & { part?: string };
    if (part && title && !described.has(part))
      described.set(part, { id: part, title, what: what ?? "", facts: facts ?? [] });
    if (node.extras.regions) {
      regions = node.extras.regions as PackageModel["regions"];
      dieTop = node.extras.top_mm as number;
    }
    // Vias inside solids can only be seen on a cut face.
    if (!node.geometry || node.extras.inside) continue;
    for (const copy of node.copies)
      pieces.push({
        geometry: node.geometry,
        material: node.material,
        group: groupOf(node, root),
        matrix: copy.premultiply(node.matrix),
        part: partOf(node),
      });
  }
  if (!regions) throw new Error("no node of the model carries the die's regions");

  const groups = Object.fromEntries(GROUPS.map((name) => [name, new Group()])) as PackageModel["groups"];
  for (const name of GROUPS) groups[name].name = name;
  const parts = collectParts(pieces, described);
  const bounds = {} as PackageModel["bounds"];
  for (const part of parts.values())
    bounds[part.group] = bounds[part.group] ? boxUnion(bounds[part.group], part.bounds) : part.bounds;
  for (const name of GROUPS) if (!bounds[name]) throw new Error(`the model has nothing in the group "${name}"`);
  const meshes = instance(pieces, groups, dress);
  return { groups, meshes, parts, regions, dieTop, bounds };
}

/** One instanced mesh for each geometry, material and group. */
function instance(pieces: readonly Piece[], groups: PackageModel["groups"], dress: Dress): InstancedMesh[] {
  const alike = new Map<string, Piece[]>();
  for (const piece of pieces) {
    const key = `${piece.group} ${piece.material} ${piece.geometry.uuid}`;
    const list = alike.get(key);
    if (list) list.push(piece);
    else alike.set(key, [piece]);
  }
  return [...alike.values()].map((list) => {
    const first = list[0] as Piece;
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
    mesh.name = `${first.group}_${first.material}`;
    groups[first.group].add(mesh);
    return mesh;
  });
}

/** Sorts a field of joints so that the two outer rows come first; returns how many those are. */
function rimFirst(list: Piece[]): number {
  const at = (piece: Piece) => [piece.matrix.elements[12] as number, piece.matrix.elements[14] as number] as const;
  const [halfX, halfZ] = list.reduce(
    ([x, z], piece) => [Math.max(x, Math.abs(at(piece)[0])), Math.max(z, Math.abs(at(piece)[1]))],
    [0, 0],
  );
  const depth = (piece: Piece) => Math.min(halfX - Math.abs(at(piece)[0]), halfZ - Math.abs(at(piece)[1]));
  list.sort((a, b) => depth(a) - depth(b));
  return list.filter((piece) => depth(piece) < RIM_MM).length;
}

function boxOf(piece: Piece): Box {
  if (!piece.geometry.boundingBox) piece.geometry.computeBoundingBox();
  const box = piece.geometry.boundingBox?.clone().applyMatrix4(piece.matrix);
  if (!box || box.isEmpty()) throw new Error(`part "${piece.part}" has an empty mesh`);
  return { min: vector(box.min), max: vector(box.max) };
}

function vector(v: Vector3): [number, number, number] {
  return [v.x, v.y, v.z];
}

function collectParts(pieces: readonly Piece[], described: Map<string, Part>): Map<string, PackagePart> {
  const parts = new Map<string, PackagePart>();
  for (const piece of pieces) {
    const about = described.get(piece.part);
    if (!about) continue;
    const box = boxOf(piece);
    const known = parts.get(piece.part);
    if (known) {
      known.boxes.push(box);
      known.bounds = boxUnion(known.bounds, box);
    } else parts.set(piece.part, { ...about, group: piece.group, boxes: [box], bounds: box });
  }
  return parts;
}
