/*
 * A board with blocks on it and writing over them: the plaque with the block diagram, the opened SM, a timeline. One draw call
 * for the board, one for all blocks, one for the writing. Lies in the plane of x and z, faces up.
 */
import {
  BoxGeometry,
  CanvasTexture,
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
  SRGBColorSpace,
} from "three";
import { markBodiless } from "./bodiless";
import type { Cell, CellKind } from "./diagram-layout";
import type { Room } from "./themes";

/** Tint of each kind of block; none of them is a colour of data. */
const TINTS: Record<CellKind, string> = {
  gpc: "#9aa3b5",
  tpc: "#8f98ab",
  sm: "#c9b26a",
  l2: "#5f9fce",
  memory_controller: "#8c979e",
  interface: "#b3ada2",
  tensor_core: "#c9b26a",
  rmem: "#a99bb5",
  smem: "#7f9dab",
  l1: "#aebbc0",
  load: "#5f9fce",
  matmul: "#c9b26a",
  softmax: "#a99bb5",
};
/** How much of its tint a block shows, by kind. */
const WASH: Partial<Record<CellKind, number>> = { gpc: 0.12, tpc: 0.16, interface: 0.3, l1: 0.4 };

const THICK = 0.5;
const EDGE = 0.7;
/** Pixels of writing per mm. */
const SHARP = 40;

/** How a block is shown: 0…1 lit as a level of memory, marked as picked, faded for another. */
export interface CellLook {
  lit: number;
  marked: number;
  faded: number;
}

export type Paint = (context: CanvasRenderingContext2D) => void;

export class DiagramBoard {
  readonly group = new Group();
  private readonly looks: InstancedBufferAttribute;
  private readonly blocks: InstancedMesh<BoxGeometry, ShaderMaterial>;
  private readonly board: Mesh<BoxGeometry, ShaderMaterial>;
  private readonly writing: Mesh<PlaneGeometry, ShaderMaterial>;
  private readonly texture: CanvasTexture;
  private readonly uniforms = {
    paper: { value: new Color() } as IUniform<Color>,
    ink: { value: new Color() } as IUniform<Color>,
    pen: { value: new Color() } as IUniform<Color>,
    accent: { value: new Color() } as IUniform<Color>,
    opacity: { value: 0 } as IUniform<number>,
  };

  /** `paint` writes in mm, with the board's middle as origin, x to the right and z downwards. */
  constructor(
    readonly cells: readonly Cell[],
    readonly width: number,
    readonly depth: number,
    paint: Paint,
  ) {
    const [w, d] = [width + 2 * EDGE, depth + 2 * EDGE];
    this.board = new Mesh(new BoxGeometry(w, THICK, d), boardMaterial(this.uniforms, w, d));
    this.board.position.y = -THICK / 2;
    const geometry = new BoxGeometry(1, 1, 1);
    this.looks = new InstancedBufferAttribute(new Float32Array(cells.length * 3), 3).setUsage(DynamicDrawUsage);
    geometry.setAttribute("aLook", this.looks);
    const tints = new Float32Array(cells.length * 4);
    const colour = new Color();
    this.blocks = new InstancedMesh(geometry, blockMaterial(this.uniforms), cells.length);
    const matrix = new Matrix4();
    cells.forEach((cell, i) => {
      matrix.makeScale(cell.w, cell.high, cell.d).setPosition(cell.x, cell.high / 2, cell.z);
      this.blocks.setMatrixAt(i, matrix);
      colour.set(TINTS[cell.kind]).toArray(tints, i * 4);
      tints[i * 4 + 3] = cell.used ? (WASH[cell.kind] ?? 0.55) : -1;
    });
    geometry.setAttribute("aTint", new InstancedBufferAttribute(tints, 4));
    this.texture = write(width, depth, paint);
    this.writing = new Mesh(new PlaneGeometry(width, depth), writingMaterial(this.uniforms, this.texture));
    this.writing.rotation.x = -Math.PI / 2;
    this.writing.position.y = Math.max(...cells.map(({ high }) => high)) + 0.03;
    [this.board, this.blocks, this.writing].forEach((mesh, i) => {
      mesh.frustumCulled = false;
      mesh.renderOrder = 6 + i;
    });
    // Board and blocks are matter: left out of the occlusion pass, what lies below would darken them.
    markBodiless(this.writing);
    this.group.add(this.board, this.blocks, this.writing);
    this.group.visible = false;
  }

  /** Drawn over everything that was drawn before it; `order` counts boards from the back. */
  setOrder(order: number): void {
    [this.board, this.blocks, this.writing].forEach((mesh, i) => {
      mesh.renderOrder = 6 + order * 3 + i;
    });
  }

  setRoom(room: Room): void {
    this.uniforms.paper.value.set(room.plaque);
    this.uniforms.ink.value.set(room.plaqueInk);
    this.uniforms.pen.value.set(room.ink);
    this.uniforms.accent.value.set(room.accent);
  }

  set opacity(opacity: number) {
    this.uniforms.opacity.value = opacity;
    this.group.visible = opacity > 0.001;
  }

  look(of: (cell: Cell) => CellLook): void {
    this.cells.forEach((cell, i) => {
      const { lit, marked, faded } = of(cell);
      this.looks.setXYZ(i, lit, marked, faded);
    });
    this.looks.needsUpdate = true;
  }

  dispose(): void {
    for (const mesh of [this.board, this.blocks, this.writing]) {
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
    this.blocks.dispose();
    this.texture.dispose();
  }
}

function write(width: number, depth: number, paint: Paint): CanvasTexture {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * SHARP);
  canvas.height = Math.round(depth * SHARP);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("no 2D canvas to write on");
  context.setTransform(SHARP, 0, 0, SHARP, canvas.width / 2, canvas.height / 2);
  context.fillStyle = "#ffffff";
  context.textAlign = "center";
  context.textBaseline = "middle";
  paint(context);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  texture.anisotropy = 8;
  return texture;
}

type Uniforms = Record<"paper" | "ink" | "pen" | "accent" | "opacity", IUniform>;

/** In the plane of the board, a thin line around its edge. */
function boardMaterial(uniforms: Uniforms, w: number, d: number): ShaderMaterial {
  return new ShaderMaterial({
    uniforms,
    vertexShader: /* glsl */ `
      varying vec3 vNormal;
      varying vec2 vAt;
      void main() {
        vNormal = normal;
        vAt = position.xz;
        gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
      }`,
    fragmentShader: /* glsl */ `
      uniform vec3 paper;
      uniform vec3 ink;
      uniform float opacity;
      varying vec3 vNormal;
      varying vec2 vAt;
      void main() {
        vec2 inside = vec2(${(w / 2).toFixed(3)}, ${(d / 2).toFixed(3)}) - abs(vAt);
        float rim = min(inside.x, inside.y);
        float line = vNormal.y > 0.5 ? 1.0 - smoothstep(0.0, fwidth(rim) + 0.02, rim - 0.12) : 0.0;
        gl_FragColor = vec4(mix(paper * (vNormal.y > 0.5 ? 1.0 : 0.72), ink, line), opacity);
        #include <colorspace_fragment>
      }`,
    transparent: true,
    toneMapped: false,
  });
}

/** Lit from above; what is not in use is an empty outline with a hatch across it. */
function blockMaterial(uniforms: Uniforms): ShaderMaterial {
  return new ShaderMaterial({
    uniforms,
    vertexShader: /* glsl */ `
      attribute vec4 aTint;
      attribute vec3 aLook;
      varying vec4 vTint;
      varying vec3 vLook;
      varying vec3 vNormal;
      varying vec2 vAt;
      varying vec2 vSize;
      void main() {
        vTint = aTint;
        vLook = aLook;
        vNormal = normal;
        vSize = vec2(length(instanceMatrix[0].xyz), length(instanceMatrix[2].xyz));
        vAt = position.xz * vSize;
        gl_Position = projectionMatrix * modelViewMatrix * instanceMatrix * vec4(position, 1.0);
      }`,
    fragmentShader: /* glsl */ `
      uniform vec3 paper;
      uniform vec3 ink;
      uniform vec3 accent;
      uniform float opacity;
      varying vec4 vTint;
      varying vec3 vLook;
      varying vec3 vNormal;
      varying vec2 vAt;
      varying vec2 vSize;
      void main() {
        float used = step(0.0, vTint.a);
        vec2 inside = vSize * 0.5 - abs(vAt);
        float rim = min(inside.x, inside.y);
        float pixel = fwidth(rim) + 1e-4;
        vec3 wash = mix(paper, vTint.rgb, clamp(vTint.a, 0.0, 1.0));
        vec3 bright = mix(vec3(1.0, 0.97, 0.85), vTint.rgb, 0.35);
        wash = mix(wash, bright, vLook.x);
        float across = fract((vAt.x + vAt.y) / 0.42);
        float hatch = smoothstep(0.55, 0.7, across) * (1.0 - smoothstep(0.85, 1.0, across));
        vec3 empty = mix(paper, ink, 0.35 * hatch);
        vec3 fill = mix(empty, wash, used);
        fill = mix(fill, paper, 0.7 * vLook.z);
        float edge = 1.0 - smoothstep(0.0, pixel, rim - max(0.045, 0.6 * pixel));
        float mark = 1.0 - smoothstep(0.0, pixel, rim - max(0.2, 1.6 * pixel));
        vec3 line = mix(ink, paper, 0.55 * vLook.z);
        vec3 colour = mix(fill, line, edge * 0.75);
        colour = mix(colour, accent, mark * vLook.y);
        if (vNormal.y < 0.5) colour *= 0.62;
        gl_FragColor = vec4(colour, opacity);
        #include <colorspace_fragment>
      }`,
    transparent: true,
    toneMapped: false,
  });
}

function writingMaterial(uniforms: Uniforms, texture: CanvasTexture): ShaderMaterial {
  return new ShaderMaterial({
    uniforms: { ...uniforms, letters: { value: texture } },
    vertexShader: /* glsl */ `
      varying vec2 vUv;
      void main() { vUv = uv; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }`,
    fragmentShader: /* glsl */ `
      uniform sampler2D letters;
      uniform vec3 pen;
      uniform float opacity;
      varying vec2 vUv;
      void main() {
        gl_FragColor = vec4(pen, texture2D(letters, vUv).a * opacity);
        #include <colorspace_fragment>
      }`,
    transparent: true,
    depthWrite: false,
    toneMapped: false,
  });
}
