/*
 * Lines of constant width on the screen: quads widened in the shader, since WebGL draws lines one pixel thin whatever it
 * is asked. Many segments, one draw call; used for lit edges, lanes and the trails of tiles.
 */
import {
  Color,
  DynamicDrawUsage,
  Float32BufferAttribute,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  type IUniform,
  Mesh,
  ShaderMaterial,
  Vector2,
} from "three";
import type { Vec3 } from "../math/view";
import { markBodiless } from "./bodiless";

const VERTEX = /* glsl */ `
attribute vec3 aStart;
attribute vec3 aEnd;
attribute vec4 aColour;
uniform vec2 resolution;
uniform float width;
uniform float lift;
varying vec4 vColour;
// Towards the eye along the line of sight: the place on the screen stays the same.
vec4 raised(vec3 place) {
  vec4 seen = modelViewMatrix * vec4(place, 1.0);
  seen.xyz *= 1.0 - lift / length(seen.xyz);
  return seen;
}
void main() {
  vColour = aColour;
  vec4 a = projectionMatrix * raised(aStart);
  vec4 b = projectionMatrix * raised(aEnd);
  vec2 along = normalize((b.xy / b.w - a.xy / a.w) * resolution + vec2(1e-5, 0.0));
  vec4 here = position.x < 0.5 ? a : b;
  vec2 side = vec2(-along.y, along.x) * position.y + along * (position.x - 0.5);
  here.xy += side * width / resolution * here.w;
  gl_Position = here;
}`;

const FRAGMENT = /* glsl */ `
uniform vec3 tint;
uniform float opacity;
varying vec4 vColour;
void main() {
  gl_FragColor = vec4(mix(tint, vColour.rgb, step(0.0, vColour.r)), opacity * vColour.a);
  #include <colorspace_fragment>
}`;

export interface LineLook {
  tint: IUniform<Color>;
  opacity: IUniform<number>;
  /** CSS px. */
  width: IUniform<number>;
}

/** One width and one window size for all lines of a stand. */
export class LineMaterial {
  readonly look: LineLook = { tint: { value: new Color() }, opacity: { value: 1 }, width: { value: 1 } };
  readonly material: ShaderMaterial;
  private readonly resolution: IUniform<Vector2> = { value: new Vector2(1, 1) };

  /** `lift`: how far in front of the surface it lies on a line is drawn, in mm. */
  constructor(lift: number) {
    this.material = new ShaderMaterial({
      uniforms: {
        tint: this.look.tint,
        opacity: this.look.opacity,
        width: this.look.width,
        resolution: this.resolution,
        lift: { value: lift },
      },
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: false,
      toneMapped: false,
    });
  }

  /** Size of the canvas in CSS px. */
  resize(width: number, height: number): void {
    this.resolution.value.set(width, height);
  }
}

/** Segments in one mesh. A negative red takes the material's tint. */
export class LineSet {
  readonly mesh: Mesh<InstancedBufferGeometry, ShaderMaterial>;
  private readonly starts: InstancedBufferAttribute;
  private readonly ends: InstancedBufferAttribute;
  private readonly colours: InstancedBufferAttribute;

  constructor(material: ShaderMaterial, most: number) {
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute("position", new Float32BufferAttribute([0, -1, 0, 1, -1, 0, 1, 1, 0, 0, 1, 0], 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    this.starts = new InstancedBufferAttribute(new Float32Array(most * 3), 3).setUsage(DynamicDrawUsage);
    this.ends = new InstancedBufferAttribute(new Float32Array(most * 3), 3).setUsage(DynamicDrawUsage);
    this.colours = new InstancedBufferAttribute(new Float32Array(most * 4), 4).setUsage(DynamicDrawUsage);
    geometry.setAttribute("aStart", this.starts);
    geometry.setAttribute("aEnd", this.ends);
    geometry.setAttribute("aColour", this.colours);
    geometry.instanceCount = 0;
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    markBodiless(this.mesh);
  }

  get count(): number {
    return this.mesh.geometry.instanceCount;
  }

  set count(count: number) {
    this.mesh.geometry.instanceCount = count;
    this.mesh.visible = count > 0;
  }

  segment(i: number, start: Vec3 | Float32Array, end: Vec3 | Float32Array): void {
    this.starts.setXYZ(i, start[0] as number, start[1] as number, start[2] as number);
    this.ends.setXYZ(i, end[0] as number, end[1] as number, end[2] as number);
    this.starts.needsUpdate = true;
    this.ends.needsUpdate = true;
  }

  colour(i: number, r: number, g: number, b: number, alpha: number): void {
    this.colours.setXYZW(i, r, g, b, alpha);
    this.colours.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
  }
}
