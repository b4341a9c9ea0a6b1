/*
 * The N × N grid of score blocks on a plaque that floats over the die, leaning back towards its far edge. The block
 * being computed is lit. What the standard way has written to HBM stays filled; FlashAttention leaves every cell an
 * empty outline, because nothing of it is stored. Blocks that a causal mask skips are left out.
 */
import {
  BoxGeometry,
  Color,
  DynamicDrawUsage,
  Group,
  InstancedBufferAttribute,
  InstancedMesh,
  type IUniform,
  Matrix4,
  Mesh,
  PlaneGeometry,
  ShaderMaterial,
  Vector3,
} from "three";
import type { Vec3 } from "../math/view";
import { markBodiless } from "./bodiless";
import { blockExists, computesAt, storedAt, workAt } from "./flow";
import type { Room } from "./themes";
import { FACES } from "./tile-atlas";
import type { Tiles } from "./tiles";
import type { Flow, Schedule } from "./types";

/** Side of the plaque in mm: about the die's, so that it reads as belonging to it. */
const SIDE = 30;
const MARGIN = 1.2;
/** Lean from upright, and where its lower edge floats, in mm above the tops and behind the die's middle. */
const LEAN = 0.5;
const ABOVE = 4;
const BEHIND = -18;
const MOST = 32 * 32;
/** Two of them stand side by side: smaller, and this far from the middle. */
const TWIN_SCALE = 0.74;
const TWIN_ASIDE = 13;

/** Tiles lie face up; on the plaque they face the reader. */
const FLAT_TO_UPRIGHT = new Matrix4().makeRotationX(Math.PI / 2);

export class Plaque {
  readonly group = new Group();
  private readonly cells: InstancedMesh;
  private readonly states: InstancedBufferAttribute;
  private readonly board: Mesh<BoxGeometry, ShaderMaterial>;
  private readonly uniforms: Record<string, IUniform> = {
    outline: { value: new Color() },
    data: { value: new Color(FACES.s.colour) },
    light: { value: new Color("#fff2c4") },
    paper: { value: new Color() },
    opacity: { value: 0 },
  };
  private readonly matrix = new Matrix4();
  private readonly size = new Vector3();
  private readonly boardColour: IUniform<Color> = { value: new Color() };

  /** What the cells were last placed for, and which of them were at work. */
  private placedFor: Schedule | null = null;
  private lit: ReadonlySet<number> = new Set();
  private readonly floor: number;

  constructor(dieTop: number) {
    this.floor = dieTop + ABOVE;
    this.group.position.set(0, this.floor, BEHIND);
    this.group.rotation.x = -LEAN;
    this.group.visible = false;
    this.board = new Mesh(
      new BoxGeometry(SIDE + 2 * MARGIN, SIDE + 2 * MARGIN, 0.5),
      new ShaderMaterial({
        uniforms: {
          colour: this.boardColour,
          outline: this.uniforms.outline as IUniform,
          opacity: this.uniforms.opacity as IUniform,
        },
        vertexShader: /* glsl */ `
          varying vec3 vNormal;
          varying vec2 vAt;
          void main() { vNormal = normal; vAt = position.xy; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }`,
        fragmentShader: /* glsl */ `
          uniform vec3 colour;
          uniform vec3 outline;
          uniform float opacity;
          varying vec3 vNormal;
          varying vec2 vAt;
          void main() {
            float rim = ${(SIDE / 2 + MARGIN).toFixed(2)} - max(abs(vAt.x), abs(vAt.y));
            float line = vNormal.z > 0.5 ? 1.0 - smoothstep(0.0, fwidth(rim) + 0.02, rim - 0.16) : 0.0;
            gl_FragColor = vec4(mix(colour * (vNormal.z > 0.5 ? 1.0 : 0.7), outline, line), opacity);
            #include <colorspace_fragment>
          }`,
        transparent: true,
        toneMapped: false,
      }),
    );
    this.board.position.set(0, SIDE / 2 + MARGIN, -0.3);
    this.board.renderOrder = 4;
    const geometry = new PlaneGeometry(1, 1);
    this.states = new InstancedBufferAttribute(new Float32Array(MOST * 2), 2);
    this.states.setUsage(DynamicDrawUsage);
    geometry.setAttribute("aCell", this.states);
    this.cells = new InstancedMesh(geometry, cellMaterial(this.uniforms), MOST);
    this.cells.frustumCulled = false;
    this.cells.renderOrder = 5;
    markBodiless(this.cells);
    this.group.add(this.board, this.cells);
  }

  /** Its four corners in the world, for fitting the camera; room for two of them side by side. */
  get corners(): Vec3[] {
    this.group.updateMatrix();
    const half = SIDE / 2 + MARGIN + 2;
    const wide = Math.max(half, TWIN_SCALE * half + TWIN_ASIDE);
    const place = this.group.position;
    return [-wide - 1, wide].flatMap((x) =>
      [0, 2 * half].map((up): Vec3 => [x, place.y + up * Math.cos(LEAN), place.z - up * Math.sin(LEAN)]),
    );
  }

  setRoom(room: Room): void {
    this.boardColour.value.set(room.plaque);
    (this.uniforms.paper as IUniform<Color>).value.set(room.plaque);
    (this.uniforms.outline as IUniform<Color>).value.set(room.plaqueInk);
  }

  /**
   * `presence`: 0 away … 1 there, while it fades. Without a flow the grid is empty. `side`: −1 or 1 where two stand side
   * by side, 0 where it stands alone.
   */
  show(flow: Flow | null, presence: number, lift: number, side: -1 | 0 | 1): void {
    this.group.visible = presence > 0.001;
    if (!this.group.visible) return;
    this.group.scale.setScalar(side ? TWIN_SCALE : 1);
    this.group.position.x = side * TWIN_ASIDE;
    (this.uniforms.opacity as IUniform<number>).value = presence;
    this.group.position.y = this.floor + lift;
    const rows = flow?.schedule.blocks_m ?? 8;
    const columns = flow?.schedule.blocks_n ?? 8;
    const pitch = SIDE / Math.max(rows, columns);
    const states = this.states.array as Float32Array;
    // Among very many cells the one at work is drawn larger than its place, or it would be missed.
    const stress = 1 + 0.03 * Math.max(0, Math.max(rows, columns) - 12);
    const work = flow ? workAt(flow.schedule, flow.time) : 0;
    const lit = new Set<number>();
    for (const block of flow ? computesAt(flow.schedule, flow.time) : [])
      lit.add(block.m_block * columns + block.n_block);
    const anew = this.placedFor !== (flow?.schedule ?? null) || this.cells.count === 0;
    let moved = anew;
    let count = 0;
    for (let m = 0; m < rows; m++)
      for (let n = 0; n < columns; n++) {
        if (flow && !blockExists(flow.schedule, m, n)) continue;
        const key = m * columns + n;
        const working = lit.has(key);
        // A cell stands where it stood; only those at work, now or a moment ago, change their size.
        if (anew || working !== this.lit.has(key)) {
          const size = working ? pitch * stress : pitch;
          this.matrix.makeScale(size, size, 1);
          const raised = working ? 0.06 : 0.02;
          this.matrix.setPosition((n - (columns - 1) / 2) * pitch, MARGIN + SIDE - (m + 0.5) * pitch, raised);
          this.cells.setMatrixAt(count, this.matrix);
          moved = true;
        }
        states[count * 2] = flow ? storedAt(flow.schedule, flow.time, m, n) : 0;
        states[count * 2 + 1] = working ? work : 0;
        count++;
      }
    this.placedFor = flow?.schedule ?? null;
    this.lit = lit;
    this.cells.count = count;
    if (moved) this.cells.instanceMatrix.needsUpdate = true;
    this.states.needsUpdate = true;
  }

  /** Sets a Q tile beside each lit row and a K tile above its column. */
  mark(flow: Flow, tiles: Tiles): void {
    const { blocks_m, blocks_n } = flow.schedule;
    const pitch = SIDE / Math.max(blocks_m, blocks_n);
    const size = Math.max(2.2, Math.min(2.8, pitch * 0.8));
    this.group.updateMatrix();
    const put = (tensor: "q" | "k", x: number, y: number) => {
      this.matrix.copy(FLAT_TO_UPRIGHT).scale(this.size.setScalar(size)).setPosition(x, y, 0.05);
      tiles.add(tensor, this.matrix.premultiply(this.group.matrix));
    };
    for (const block of computesAt(flow.schedule, flow.time)) {
      put("q", -SIDE / 2 - MARGIN - size * 0.62, MARGIN + SIDE - (block.m_block + 0.5) * pitch);
      put("k", (block.n_block - (blocks_n - 1) / 2) * pitch, SIDE + 2 * MARGIN + size * 0.62);
    }
  }

  dispose(): void {
    this.board.geometry.dispose();
    this.board.material.dispose();
    this.cells.geometry.dispose();
    (this.cells.material as ShaderMaterial).dispose();
    this.cells.dispose();
  }
}

function cellMaterial(uniforms: Record<string, IUniform>): ShaderMaterial {
  return new ShaderMaterial({
    uniforms,
    vertexShader: /* glsl */ `
      attribute vec2 aCell;
      varying vec2 vCell;
      varying vec2 vAt;
      void main() {
        vCell = aCell;
        vAt = position.xy;
        gl_Position = projectionMatrix * modelViewMatrix * instanceMatrix * vec4(position, 1.0);
      }`,
    // Empty: an outline. S written: dots, as on its tiles. P written: full. Worked on: bright with a firm rim.
    fragmentShader: /* glsl */ `
      uniform vec3 outline;
      uniform vec3 data;
      uniform vec3 light;
      uniform vec3 paper;
      uniform float opacity;
      varying vec2 vCell;
      varying vec2 vAt;
      float rounded(vec2 p, float half_, float r) {
        vec2 q = abs(p) - half_ + r;
        return length(max(q, 0.0)) + min(max(q.x, q.y), 0.0) - r;
      }
      void main() {
        float d = rounded(vAt, 0.42, 0.08);
        float pixel = min(fwidth(d), 0.18);
        float soft = pixel * 0.75 + 1e-4;
        float inside = 1.0 - smoothstep(-soft, soft, d);
        float rim = inside * smoothstep(-soft, soft, d + max(0.05, 1.1 * pixel));
        // Many small cells: their outlines step back, or they would fill the plaque.
        float faint = mix(1.0, 0.35, smoothstep(0.05, 0.16, pixel));
        vec2 grid = fract(vAt * 4.0) - 0.5;
        float dots = mix(1.0 - smoothstep(0.26, 0.34, length(grid)), 0.3, smoothstep(0.03, 0.1, pixel));
        float s = step(0.5, vCell.x), p = step(1.5, vCell.x);
        vec3 fill = mix(mix(paper, data, 0.30 + 0.55 * dots), data, p);
        float alpha = inside * s;
        vec3 colour = mix(fill, mix(outline, data, s), rim);
        alpha = max(alpha, rim * mix(faint, 1.0, s));
        float work = vCell.y;
        colour = mix(colour, mix(light, data, rim), work * inside);
        alpha = max(alpha, inside * work);
        gl_FragColor = vec4(colour, alpha * opacity);
        #include <colorspace_fragment>
      }`,
    transparent: true,
    depthWrite: false,
    toneMapped: false,
  });
}
