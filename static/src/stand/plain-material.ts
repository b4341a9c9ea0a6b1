/*
 * The low tier's material: light worked out per corner and not per pixel, so that a machine without a graphics chip can
 * turn the stand. Nearly every face is flat, so little is lost: the same studio in a few soft lobes, the same lamp, the
 * same veil and glow, and on the die a slope of its blue.
 */
import { Color, type IUniform, ShaderMaterial, Vector3 } from "three";

/** What all plain materials share. */
export interface PlainLight {
  uVeil: IUniform<Color>;
  uGlow: IUniform<Color>;
  /** Direction to the lamp, and its strength; strength of the studio; where the reader stands, as an angle. */
  uLamp: IUniform<Vector3>;
  uStudio: IUniform<number>;
  uAzimuth: IUniform<number>;
}

export function plainLight(veil: IUniform<Color>, glow: IUniform<Color>): PlainLight {
  return {
    uVeil: veil,
    uGlow: glow,
    uLamp: { value: new Vector3(0, 1, 0) },
    uStudio: { value: 1 },
    uAzimuth: { value: 0 },
  };
}

const VERTEX = /* glsl */ `
attribute vec2 aState;
uniform vec3 uColour;
uniform float uRoughness;
uniform float uMetalness;
uniform float uSheen;
uniform vec3 uVeil;
uniform vec3 uGlow;
uniform vec3 uLamp;
uniform float uStudio;
uniform float uAzimuth;
varying vec3 vLight;

// The studio as seen in direction d, in the reader's frame: dark card behind, key above left, strips at the sides.
vec3 studio(vec3 d, float blur) {
  vec3 room = mix(vec3(0.30, 0.285, 0.26), vec3(0.52, 0.53, 0.55), smoothstep(-0.5, 0.6, d.y));
  float behind = smoothstep(0.1, 0.7, -d.z) * (1.0 - smoothstep(0.55, 0.95, d.y));
  room *= 1.0 - 0.9 * behind * (1.0 - 0.5 * blur);
  room += vec3(1.0, 0.95, 0.88) * 6.0 * smoothstep(0.72, 0.96, dot(d, vec3(-0.45, 0.85, 0.28))) * (1.0 - 0.7 * blur);
  float band = 1.0 - smoothstep(0.05, 0.25, abs(d.y - 0.38));
  room += 2.6 * band * smoothstep(0.6, 0.9, abs(d.x)) * (1.0 - 0.7 * blur);
  return room;
}

void main() {
  vec4 place = modelMatrix * instanceMatrix * vec4(position, 1.0);
  mat3 turn = mat3(modelMatrix * instanceMatrix);
  vec3 stretch = vec3(dot(turn[0], turn[0]), dot(turn[1], turn[1]), dot(turn[2], turn[2]));
  vec3 n = normalize(turn * (normal / stretch));
  vec3 toEye = normalize(cameraPosition - place.xyz);
  float c = cos(uAzimuth), s = sin(uAzimuth);
  vec3 r = reflect(-toEye, n);
  r = vec3(c * r.x - s * r.z, r.y, s * r.x + c * r.z);
  float facing = max(dot(n, toEye), 0.0);
  vec3 f0 = mix(vec3(0.04), uColour, uMetalness);
  vec3 fresnel = f0 + (max(vec3(1.0 - uRoughness), f0) - f0) * pow(1.0 - facing, 5.0);
  float lamp = max(dot(n, normalize(uLamp)), 0.0) * length(uLamp) * 0.318;
  vec3 around = mix(vec3(0.62, 0.59, 0.55), vec3(1.38, 1.33, 1.27), 0.5 + 0.5 * n.y) * uStudio;
  vec3 colour = uColour * (1.0 - uMetalness) * (around + lamp) + fresnel * (studio(r, uRoughness) * uStudio + lamp * 0.4);
  // The die's blue, as far as corners can carry it.
  colour += uSheen * step(0.9, n.y) * vec3(0.004, 0.010, 0.045) * (0.6 + 0.8 * facing);
  colour = mix(colour, uVeil * (0.72 + 0.28 * clamp(n.y, 0.0, 1.0)), aState.x) + uGlow * aState.y;
  vLight = colour;
  gl_Position = projectionMatrix * viewMatrix * place;
}`;

const FRAGMENT = /* glsl */ `
varying vec3 vLight;
void main() {
  gl_FragColor = vec4(vLight, 1.0);
  #include <tonemapping_fragment>
  #include <colorspace_fragment>
}`;

export function plainMaterial(
  light: PlainLight,
  roughness: number,
  metalness: number,
  sheen: boolean,
): ShaderMaterial & { color: Color } {
  const colour: IUniform<Color> = { value: new Color() };
  const material = new ShaderMaterial({
    uniforms: {
      ...light,
      uColour: colour,
      uRoughness: { value: roughness },
      uMetalness: { value: metalness },
      uSheen: { value: sheen ? 1 : 0 },
    },
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
  });
  return Object.assign(material, { color: colour.value });
}
