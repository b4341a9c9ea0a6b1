/*
 * The data tiles of one moment: one instanced mesh, filled anew from the flow for every frame without allocating.
 */
import {
  DynamicDrawUsage,
  InstancedBufferAttribute,
  InstancedMesh,
  Matrix4,
  MeshStandardMaterial,
  type Texture,
} from "three";
import type { Vec3 } from "../math/view";
import { explodeOffset } from "./explode";
import { type FlowTile, type FlowTiles, tilesAt } from "./flow";
import { isStrip } from "./flow-kinds";
import { FlowLayout, type FlowSite } from "./flow-layout";
import { slabGeometry } from "./slab";
import { ATLAS_COLUMNS, ATLAS_ORDER, ATLAS_ROWS, drawAtlas, STRIP_DEPTH } from "./tile-atlas";
import type { Flow, Schedule, Tensor } from "./types";

/** Most tiles drawn at once: what waits in the L2 at 32 blocks, a row on its SM, and what is in flight. */
const MOST = 768;

export class Tiles {
  readonly mesh: InstancedMesh;
  layout: FlowLayout | null = null;
  private readonly kinds: InstancedBufferAttribute;
  private readonly atlas: Texture;
  readonly list: FlowTiles = { count: 0, items: [] };
  private readonly at = new Float32Array(4);
  private readonly matrix = new Matrix4();
  private schedule: Schedule | null = null;
  private site: FlowSite | null = null;

  constructor() {
    this.atlas = drawAtlas();
    const geometry = slabGeometry(0.17, 0.14, 4);
    this.kinds = new InstancedBufferAttribute(new Float32Array(MOST), 1);
    this.kinds.setUsage(DynamicDrawUsage);
    geometry.setAttribute("aKind", this.kinds);
    this.mesh = new InstancedMesh(geometry, tileMaterial(this.atlas), MOST);
    this.mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = false;
    this.mesh.count = 0;
    this.mesh.visible = false;
  }

  /** Shows a moment; null puts the tiles away. `explode` moves the lanes with the parts they join. */
  show(flow: Flow | null, site: FlowSite, explode: number): void {
    if (!flow) {
      this.list.count = 0;
      this.mesh.visible = false;
      this.schedule = null;
      this.layout = null;
      return;
    }
    if (this.schedule !== flow.schedule || this.site !== site || !this.layout) {
      this.schedule = flow.schedule;
      this.site = site;
      this.layout = new FlowLayout(site, flow.schedule);
    }
    const layout = this.layout;
    tilesAt(flow.schedule, flow.time, this.list);
    const count = Math.min(this.list.count, MOST);
    const dieRise = explodeOffset("gpu_die", explode)[1];
    const stackRise = explodeOffset("stacks_left", explode)[1];
    for (let i = 0; i < count; i++) {
      const tile = this.list.items[i] as FlowTiles["items"][number];
      const home = layout.place(tile, this.at);
      const rise = stackRise + (dieRise - stackRise) * home;
      const size = layout.tile * Math.max(tile.scale, 0.001) * (this.at[3] as number);
      this.matrix.makeScale(size, size, isStrip(tile.tensor) ? size * STRIP_DEPTH : size);
      this.matrix.setPosition(this.at[0] as number, (this.at[1] as number) + rise, this.at[2] as number);
      this.mesh.setMatrixAt(i, this.matrix);
      this.kinds.array[i] = ATLAS_ORDER.indexOf(tile.tensor);
    }
    this.mesh.count = count;
    this.mesh.visible = count > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
    this.kinds.needsUpdate = true;
  }

  /** The tile a ray meets first, `lift` mm above where it lies on the closed package; null for none. */
  hit(from: Vec3, along: Vec3, lift: number): FlowTile | null {
    let best: FlowTile | null = null;
    let nearest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < Math.min(this.list.count, MOST); i++) {
      this.mesh.getMatrixAt(i, this.matrix);
      const e = this.matrix.elements;
      const at = ((e[13] as number) + lift - from[1]) / along[1];
      const x = Math.abs(from[0] + along[0] * at - (e[12] as number));
      const z = Math.abs(from[2] + along[2] * at - (e[14] as number));
      if (at <= 0 || at >= nearest || x > (e[0] as number) / 2 || z > (e[10] as number) / 2) continue;
      [nearest, best] = [at, this.list.items[i] as FlowTile];
    }
    return best;
  }

  /** One more tile, placed freely: the plaque names its lit row and column with them. */
  add(tensor: Tensor, matrix: Matrix4): void {
    const i = this.mesh.count;
    if (i >= MOST) return;
    this.mesh.setMatrixAt(i, matrix);
    this.kinds.array[i] = ATLAS_ORDER.indexOf(tensor);
    this.mesh.count = i + 1;
    this.mesh.visible = true;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    (this.mesh.material as MeshStandardMaterial).dispose();
    this.mesh.dispose();
    this.atlas.dispose();
  }
}

/** Matte and softly self-lit: the colour on the face is the colour in the text, in every room. */
function tileMaterial(atlas: Texture): MeshStandardMaterial {
  const material = new MeshStandardMaterial({
    map: atlas,
    emissiveMap: atlas,
    emissive: 0xffffff,
    color: 0x8c8c8c,
    emissiveIntensity: 0.5,
    roughness: 0.9,
    metalness: 0,
    envMapIntensity: 0.6,
  });
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nattribute float aKind;")
      .replace(
        "#include <uv_vertex>",
        `#include <uv_vertex>
        vec2 cell = vec2(mod(aKind, ${ATLAS_COLUMNS}.0), floor(aKind / ${ATLAS_COLUMNS}.0));
        vec2 place = (cell + clamp(vec2(uv.x, 1.0 - uv.y), 0.02, 0.98)) / vec2(${ATLAS_COLUMNS}.0, ${ATLAS_ROWS}.0);
        vMapUv = vec2(place.x, 1.0 - place.y);
        vEmissiveMapUv = vMapUv;`,
      );
  };
  return material;
}
