/*
 * The softbox studio, built in code and baked once to an environment map: a large key above left, a long strip on each
 * side so that edges carry a clean highlight, one strip overhead for the bevels that face the reader, and behind the
 * object a dark card, because that is what a flat polished top mirrors: silicon stays black and no top washes out.
 */
import {
  BackSide,
  Mesh,
  PMREMGenerator,
  Scene,
  ShaderMaterial,
  SphereGeometry,
  type Texture,
  type WebGLRenderer,
} from "three";

const VERTEX = /* glsl */ `
varying vec3 vDirection;
void main() {
  vDirection = position;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

// Azimuth 0 is where the reader stands; the environment is turned so that this stays true as the reader walks round.
const FRAGMENT = /* glsl */ `
varying vec3 vDirection;

vec3 heading(float azimuth, float elevation) {
  float a = radians(azimuth), e = radians(elevation);
  return vec3(sin(a) * cos(e), sin(e), cos(a) * cos(e));
}

// A rectangle facing the object: half sizes and softness as tangents of angles.
float box(vec3 d, float azimuth, float elevation, vec2 halfSize, float softness) {
  vec3 c = heading(azimuth, elevation);
  float facing = dot(d, c);
  vec3 right = normalize(cross(vec3(0.0, 1.0, 0.0), c));
  vec3 up = cross(c, right);
  vec2 p = abs(vec2(dot(d, right), dot(d, up)) / max(facing, 1e-3)) - halfSize;
  float edge = max(p.x, p.y);
  return facing > 0.0 ? 1.0 - smoothstep(-softness, softness, edge) : 0.0;
}

void main() {
  vec3 d = normalize(vDirection);
  vec3 room = mix(vec3(0.30, 0.285, 0.26), vec3(0.52, 0.53, 0.55), smoothstep(-0.5, 0.6, d.y));
  // The card behind the object, from the ground to high overhead.
  float card = box(d, 180.0, 34.0, vec2(1.05, 0.72), 0.28);
  // It lightens towards its top, so that satin tops have a slope of light and not one flat grey.
  room *= 1.0 - card * mix(0.95, 0.45, smoothstep(0.45, 0.95, d.y));
  room += vec3(1.0, 0.95, 0.88) * 9.0 * box(d, -58.0, 58.0, vec2(0.62, 0.42), 0.10);
  room += vec3(0.90, 0.95, 1.0) * 5.0 * box(d, 92.0, 24.0, vec2(1.5, 0.11), 0.06);
  room += vec3(1.0, 0.96, 0.90) * 5.0 * box(d, -96.0, 20.0, vec2(1.4, 0.10), 0.06);
  room += vec3(1.0) * 6.0 * box(d, 8.0, 64.0, vec2(0.85, 0.09), 0.06);
  room += vec3(1.0, 0.97, 0.93) * 1.6 * box(d, 14.0, 16.0, vec2(0.9, 0.12), 0.10);
  gl_FragColor = vec4(room, 1.0);
}`;

/** Bakes the studio for a renderer. The caller owns the texture; bake again after a lost context. */
export function bakeStudio(renderer: WebGLRenderer): { texture: Texture; dispose: () => void } {
  const generator = new PMREMGenerator(renderer);
  const scene = new Scene();
  const geometry = new SphereGeometry(10, 48, 32);
  const material = new ShaderMaterial({
    side: BackSide,
    depthWrite: false,
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
  });
  scene.add(new Mesh(geometry, material));
  const target = generator.fromScene(scene, 0, 0.1, 100);
  geometry.dispose();
  material.dispose();
  generator.dispose();
  return { texture: target.texture, dispose: () => target.dispose() };
}
