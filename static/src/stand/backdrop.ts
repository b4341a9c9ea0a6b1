/*
 * What the object stands in: a seamless backdrop without a horizon, and the soft shadow under the base. Both are
 * computed, not sampled: the shadow is the exact blur of a rounded plate, so it costs one quad and no shadow map.
 */
import {
  BufferAttribute,
  BufferGeometry,
  Color,
  type IUniform,
  Mesh,
  PlaneGeometry,
  ShaderMaterial,
  Vector2,
} from "three";
import type { Box } from "../math/view";
import { markBodiless } from "./bodiless";
import type { Room } from "./themes";

const BACKDROP_FRAGMENT = /* glsl */ `
uniform vec3 near;
uniform vec3 far;
varying vec2 vPlace;
// A trace of noise hides the steps of an eight-bit gradient.
float noise(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))); }
void main() {
  float reach = length((vPlace - vec2(0.0, 0.06)) * vec2(0.78, 0.92));
  vec3 colour = mix(near, far, smoothstep(0.15, 1.25, reach));
  gl_FragColor = vec4(colour, 1.0);
  #include <colorspace_fragment>
  if (distance(near, far) > 0.0) gl_FragColor.rgb += (noise(gl_FragCoord.xy) - 0.5) / 255.0;
}`;

const SHADOW_FRAGMENT = /* glsl */ `
uniform vec2 halfSize;
uniform vec3 colour;
uniform float strength;
// Where the lamp throws it, as a direction on the ground.
uniform vec2 away;
varying vec2 vGround;
vec2 erf(vec2 x) {
  vec2 s = sign(x), a = abs(x);
  x = 1.0 + (0.278393 + (0.230389 + 0.078108 * (a * a)) * a) * a;
  x *= x;
  return s - s / (x * x);
}
// Share of a blurred rectangle seen from p; sigma in mm.
float plate(vec2 p, vec2 size, float sigma) {
  vec2 a = 0.5 + 0.5 * erf((p + size) / (sigma * 1.41421356));
  vec2 b = 0.5 + 0.5 * erf((p - size) / (sigma * 1.41421356));
  vec2 w = a - b;
  return w.x * w.y;
}
void main() {
  float close = plate(vGround - away * 0.8, halfSize - 1.0, 2.6);
  float wide = plate(vGround - away * 8.5, halfSize, 12.0);
  float shade = clamp(0.6 * close + 0.62 * wide, 0.0, 1.0);
  gl_FragColor = vec4(colour, strength * shade);
  #include <colorspace_fragment>
}`;

export class Backdrop {
  readonly screen: Mesh;
  readonly shadow: Mesh;
  private readonly screenUniforms: Record<string, IUniform>;
  private readonly shadowUniforms: Record<string, IUniform>;

  /** `base`: bounds of the plate the object stands on, in mm. */
  constructor(base: Box) {
    const triangle = new BufferGeometry();
    triangle.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));
    this.screenUniforms = { near: { value: new Color() }, far: { value: new Color() } };
    this.screen = new Mesh(
      triangle,
      new ShaderMaterial({
        uniforms: this.screenUniforms,
        vertexShader: /* glsl */ `
          varying vec2 vPlace;
          void main() { vPlace = position.xy; gl_Position = vec4(position.xy, 1.0, 1.0); }`,
        fragmentShader: BACKDROP_FRAGMENT,
        depthTest: false,
        depthWrite: false,
        toneMapped: false,
      }),
    );
    this.screen.frustumCulled = false;
    this.screen.renderOrder = -10;

    const halfX = (base.max[0] - base.min[0]) / 2;
    const halfZ = (base.max[2] - base.min[2]) / 2;
    this.shadowUniforms = {
      halfSize: { value: new Vector2(halfX, halfZ) },
      colour: { value: new Color() },
      strength: { value: 0.6 },
      away: { value: new Vector2(1, 0) },
    };
    this.shadow = new Mesh(
      new PlaneGeometry(2 * halfX + 110, 2 * halfZ + 110),
      new ShaderMaterial({
        uniforms: this.shadowUniforms,
        vertexShader: /* glsl */ `
          varying vec2 vGround;
          void main() {
            vGround = position.xy * vec2(1.0, -1.0);
            gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
          }`,
        fragmentShader: SHADOW_FRAGMENT,
        transparent: true,
        depthWrite: false,
        toneMapped: false,
      }),
    );
    this.shadow.rotation.x = -Math.PI / 2;
    this.shadow.position.set((base.max[0] + base.min[0]) / 2, base.min[1], (base.max[2] + base.min[2]) / 2);
    this.shadow.renderOrder = -5;
    for (const mesh of [this.screen, this.shadow]) markBodiless(mesh);
  }

  /** `azimuth`: where the lamp stands. */
  setLamp(azimuth: number): void {
    (this.shadowUniforms.away as IUniform<Vector2>).value.set(-Math.sin(azimuth), -Math.cos(azimuth));
  }

  setRoom(room: Room): void {
    (this.screenUniforms.near as IUniform<Color>).value.set(room.near);
    (this.screenUniforms.far as IUniform<Color>).value.set(room.far);
    (this.shadowUniforms.colour as IUniform<Color>).value.set(room.shadow);
    (this.shadowUniforms.strength as IUniform<number>).value = room.shadowStrength;
  }

  dispose(): void {
    for (const mesh of [this.screen, this.shadow]) {
      mesh.geometry.dispose();
      (mesh.material as ShaderMaterial).dispose();
    }
  }
}
