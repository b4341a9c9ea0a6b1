/*
 * How each material looks on a cut face: a colour and a hatch. After technical drawing, where a hatch says what a thing
 * is made of; colours are chosen so that what touches differs in grey as well. Pure, but for the shader's text.
 */
import type { Theme } from "./types";

/** Order of the shader's branches. */
export const HATCHES = ["plain", "silicon", "copper", "solder", "resin", "moulding", "ceramic"] as const;
export type Hatch = (typeof HATCHES)[number];

export interface Face {
  hatch: Hatch;
  /** sRGB of the ground, and of the hatch drawn on it. */
  ground: string;
  ink: string;
  /** Where the projector needs another ground. */
  projector?: string;
  /** Drawn in front of what it stands in; larger is nearer. */
  rank: number;
}

const SILICON = { hatch: "silicon", rank: 0 } as const;

export const FACES_CUT: Readonly<Record<string, Face>> = {
  die_silicon: { ...SILICON, ground: "#50607f", ink: "#8fa3c8" },
  die_relief: { ...SILICON, ground: "#50607f", ink: "#8fa3c8", rank: 1 },
  interposer_silicon: { ...SILICON, ground: "#3f4496", ink: "#7f86dd" },
  hbm_graphite: { ...SILICON, ground: "#c6cacf", ink: "#8f959c" },
  hbm_base_die: { ...SILICON, ground: "#7d848c", ink: "#b4bac1" },
  hbm_film: { hatch: "plain", ground: "#232528", ink: "#232528", rank: 0 },
  laser_mark: { hatch: "plain", ground: "#eceae4", ink: "#eceae4", rank: 1 },
  copper: { hatch: "copper", ground: "#b8622f", ink: "#f0b184", rank: 2 },
  solder: { hatch: "solder", ground: "#dcdee0", ink: "#8b9095", rank: 1 },
  tin: { hatch: "solder", ground: "#e3e5e7", ink: "#9a9fa4", rank: 2 },
  substrate_mask: { hatch: "plain", ground: "#17704a", ink: "#17704a", rank: 0 },
  substrate_core: { hatch: "resin", ground: "#d3cbb0", ink: "#8d8362", rank: 0 },
  moulding: { hatch: "moulding", ground: "#26282b", ink: "#7c8086", rank: 0, projector: "#2f3134" },
  ceramic: { hatch: "ceramic", ground: "#b98a58", ink: "#f1d9b6", rank: 1 },
};

const UNKNOWN: Face = { hatch: "plain", ground: "#8a8a8a", ink: "#8a8a8a", rank: 0 };

export function faceOf(material: string): Face {
  return FACES_CUT[material] ?? UNKNOWN;
}

export function groundOf(face: Face, theme: Theme): string {
  return (theme === "projector" && face.projector) || face.ground;
}

/** What is written to the depth, in mm towards the reader for each rank, so that faces in one plane do not flicker. */
export const RANK_STEP = 0.012;

/** Most parts and materials the shader can look up. */
export const MOST_PARTS = 24;
export const MOST_FACES = 20;

export const FACE_VERTEX = /* glsl */ `
// Index of the material, of the part, and how thick the body is here, in mm.
attribute vec3 aKind;
uniform vec2 uStates[${MOST_PARTS}];
uniform vec3 uGrounds[${MOST_FACES}];
uniform vec3 uInks[${MOST_FACES}];
uniform int uHatches[${MOST_FACES}];
varying vec3 vGround;
varying vec3 vInk;
varying vec2 vPlace;
varying vec2 vState;
varying float vThick;
flat varying int vHatch;
void main() {
  vThick = aKind.z;
  int face = int(aKind.x + 0.5);
  vGround = uGrounds[face];
  vInk = uInks[face];
  vHatch = uHatches[face];
  vState = uStates[int(aKind.y + 0.5)];
  vPlace = uv;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

// uGrain: mm from line to line, a power of two, so that the hatch keeps its size on the screen without swimming.
export const FACE_FRAGMENT = /* glsl */ `
uniform float uGrain;
uniform float uScale;
uniform vec3 uVeil;
uniform vec3 uGlow;
varying vec3 vGround;
varying vec3 vInk;
varying vec2 vPlace;
varying vec2 vState;
varying float vThick;
flat varying int vHatch;
// Lines across a coordinate that counts them: share of each that is inked, softened by a pixel.
float lines(float at, float share) {
  float soft = fwidth(at);
  float away = abs(fract(at) - 0.5) * 2.0;
  return mix(1.0 - smoothstep(share - soft * 2.0, share + soft * 2.0, away), share, smoothstep(0.35, 0.8, soft));
}
float random(vec2 cell) { return fract(sin(dot(cell, vec2(12.9898, 78.233))) * 43758.5453); }
float dots(vec2 at, float radius, float keep) {
  vec2 cell = floor(at);
  vec2 middle = vec2(0.5) + 0.34 * keep * (vec2(random(cell), random(cell + 7.1)) - 0.5);
  float size = radius * mix(1.0, 0.45 + 0.9 * random(cell + 3.7), keep);
  float soft = fwidth(at.y) + 0.02;
  return 1.0 - smoothstep(size - soft, size + soft, length(fract(at) - middle));
}
void main() {
  vec2 at = vec2(vPlace.x, vPlace.y * uScale) / uGrain;
  float rising = (at.x + at.y) * 0.7071, falling = (at.x - at.y) * 0.7071;
  float ink = 0.0;
  if (vHatch == 1) ink = lines(falling * 0.8, 0.16);
  else if (vHatch == 2) ink = lines(rising * 1.6, 0.42);
  else if (vHatch == 3) ink = max(lines(rising, 0.2), lines(falling, 0.2));
  else if (vHatch == 4) {
    float row = floor(at.y * 0.9);
    ink = lines(at.y * 0.9, 0.2) * step(0.38, fract(at.x * 0.22 + 0.41 * row));
  }
  else if (vHatch == 5) ink = dots(at * 0.85, 0.24, 1.0);
  else if (vHatch == 6) ink = dots(vec2(rising, falling) * 1.1, 0.27, 0.0);
  // What is thinner than a hatch is wide stays plain, or layers would dissolve into noise.
  vec3 colour = mix(vGround, vInk, ink * smoothstep(0.35, 0.75, vThick / uGrain));
  colour = mix(colour, uVeil, vState.x) + uGlow * vState.y;
  gl_FragColor = vec4(colour, 1.0);
  #include <tonemapping_fragment>
  #include <colorspace_fragment>
}`;
