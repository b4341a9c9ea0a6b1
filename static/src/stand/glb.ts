/*
 * Reads a .glb as this project writes it: named nodes with extras, meshes of one primitive, instancing, plain or
 * quantised accessors. A tenth of the size of a general loader, which the first frame would have to wait for.
 * Format: glTF 2.0 binary, EXT_mesh_gpu_instancing, KHR_mesh_quantization.
 */
import { BufferAttribute, BufferGeometry, Matrix4, Quaternion, Vector3 } from "three";

export interface GlbNode {
  name: string;
  parent: GlbNode | null;
  extras: Record<string, unknown>;
  /** Placement below the root, root's own placement left out. */
  matrix: Matrix4;
  /** Copies, each placed within the node; one at the origin where the node is not instanced. */
  copies: Matrix4[];
  geometry: BufferGeometry | null;
  material: string;
}

interface Accessor {
  bufferView: number;
  byteOffset?: number;
  componentType: number;
  count: number;
  type: string;
  normalized?: boolean;
}

interface Document {
  scene?: number;
  scenes: { nodes: number[] }[];
  nodes: {
    name?: string;
    mesh?: number;
    children?: number[];
    matrix?: number[];
    translation?: number[];
    rotation?: number[];
    scale?: number[];
    extras?: Record<string, unknown>;
    extensions?: { EXT_mesh_gpu_instancing?: { attributes: Record<string, number> } };
  }[];
  meshes: { primitives: { attributes: Record<string, number>; indices: number; material: number }[] }[];
  materials: { name: string }[];
  accessors: Accessor[];
  bufferViews: { byteOffset?: number; byteLength: number; byteStride?: number }[];
}

const MAGIC = 0x46546c67;
const COMPONENTS: Record<string, number> = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT4: 16 };
const ARRAYS = {
  5120: Int8Array,
  5121: Uint8Array,
  5122: Int16Array,
  5123: Uint16Array,
  5125: Uint32Array,
  5126: Float32Array,
} as const;

/** Every node below the one named `root`, parents first. Throws a sentence when the bytes are no such file. */
export function readGlb(bytes: ArrayBuffer, root: string): { root: GlbNode; nodes: GlbNode[] } {
  const view = new DataView(bytes);
  if (bytes.byteLength < 20 || view.getUint32(0, true) !== MAGIC)
    throw new Error("the model is not a binary glTF file");
  const jsonLength = view.getUint32(12, true);
  const json = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 20, jsonLength))) as Document;
  const binary = 20 + jsonLength + 8;
  const meshes = json.meshes.map((mesh) => {
    const primitive = mesh.primitives[0];
    if (!primitive) throw new Error("a mesh of the model has no primitive");
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", attribute(json, bytes, binary, primitive.attributes.POSITION as number));
    geometry.setAttribute("normal", attribute(json, bytes, binary, primitive.attributes.NORMAL as number));
    geometry.setIndex(attribute(json, bytes, binary, primitive.indices));
    return { geometry, material: json.materials[primitive.material]?.name ?? "" };
  });
  const nodes: GlbNode[] = [];
  const visit = (index: number, parent: GlbNode | null): void => {
    const raw = json.nodes[index] as Document["nodes"][number];
    const mesh = raw.mesh === undefined ? null : meshes[raw.mesh];
    const inside = parent !== null || raw.name === root;
    const matrix = parent ? parent.matrix.clone().multiply(placement(raw)) : new Matrix4();
    const node: GlbNode = {
      name: raw.name ?? "",
      parent,
      extras: raw.extras ?? {},
      matrix,
      copies: copies(json, bytes, binary, raw),
      geometry: mesh?.geometry ?? null,
      material: mesh?.material ?? "",
    };
    if (inside) nodes.push(node);
    for (const child of raw.children ?? []) visit(child, inside ? node : null);
  };
  for (const index of json.scenes[json.scene ?? 0]?.nodes ?? []) visit(index, null);
  const first = nodes[0];
  if (!first) throw new Error(`the model has no node named "${root}"`);
  return { root: first, nodes };
}

function placement(node: Document["nodes"][number]): Matrix4 {
  if (node.matrix) return new Matrix4().fromArray(node.matrix);
  return new Matrix4().compose(
    new Vector3().fromArray(node.translation ?? [0, 0, 0]),
    new Quaternion().fromArray(node.rotation ?? [0, 0, 0, 1]),
    new Vector3().fromArray(node.scale ?? [1, 1, 1]),
  );
}

function copies(json: Document, bytes: ArrayBuffer, binary: number, node: Document["nodes"][number]): Matrix4[] {
  const attributes = node.extensions?.EXT_mesh_gpu_instancing?.attributes;
  if (!attributes) return [new Matrix4()];
  const read = (name: string) =>
    attributes[name] === undefined ? null : attribute(json, bytes, binary, attributes[name]);
  const [move, turn, size] = [read("TRANSLATION"), read("ROTATION"), read("SCALE")];
  const count = (move ?? turn ?? size)?.count ?? 0;
  return Array.from({ length: count }, (_, i) =>
    new Matrix4().compose(
      move ? new Vector3().fromBufferAttribute(move, i) : new Vector3(),
      turn ? new Quaternion(turn.getX(i), turn.getY(i), turn.getZ(i), turn.getW(i)) : new Quaternion(),
      size ? new Vector3().fromBufferAttribute(size, i) : new Vector3(1, 1, 1),
    ),
  );
}

/** An accessor as a tight array; interleaved and padded views are copied out. */
function attribute(json: Document, bytes: ArrayBuffer, binary: number, index: number): BufferAttribute {
  const accessor = json.accessors[index];
  const view = accessor && json.bufferViews[accessor.bufferView];
  const kind = accessor && ARRAYS[accessor.componentType as keyof typeof ARRAYS];
  const size = accessor && COMPONENTS[accessor.type];
  if (!accessor || !view || !kind || !size) throw new Error(`accessor ${index} of the model cannot be read`);
  const start = binary + (view.byteOffset ?? 0) + (accessor.byteOffset ?? 0);
  const tight = size * kind.BYTES_PER_ELEMENT;
  const stride = view.byteStride ?? tight;
  if (stride === tight)
    return new BufferAttribute(
      new kind(bytes.slice(start, start + accessor.count * tight)),
      size,
      accessor.normalized ?? false,
    );
  const array = new kind(accessor.count * size);
  for (let i = 0; i < accessor.count; i++) {
    const from = start + i * stride;
    array.set(new kind(bytes.slice(from, from + tight)), i * size);
  }
  return new BufferAttribute(array, size, accessor.normalized ?? false);
}
