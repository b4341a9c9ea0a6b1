/*
 * Diffraction on the die: wiring repeats at about the wavelength of light, so a polished die splits the key light into
 * bands of colour that move with the view. First order of a grating along both axes, d (sin θ_in − sin θ_out) = λ, with
 * the colour of λ, narrowed to blue and gold; kept faint and broken up along the blocks of the floor plan.
 */

export const DIFFRACTION_HEADER = /* glsl */ `
// Colour of a wavelength in nanometres, in blue and gold only: the die is one patch of colour, not a rainbow.
vec3 spectrum(float nm) {
  vec2 d = (vec2(nm) - vec2(455.0, 590.0)) / vec2(70.0, 55.0);
  vec2 e = exp(-0.5 * d * d);
  return e.x * vec3(0.10, 0.24, 1.0) + e.y * vec3(1.0, 0.62, 0.16);
}
vec3 grating(vec3 toEye, vec3 toLight, float pitchNm) {
  vec3 h = toEye + toLight;
  vec3 sum = vec3(0.0);
  for (int order = 1; order <= 2; order++) {
    float o = float(order);
    sum += (spectrum(abs(h.x) * pitchNm / o) + spectrum(abs(h.z) * pitchNm / o)) / o;
  }
  return sum;
}`;

export const DIFFRACTION_FRAGMENT = /* glsl */ `
{
  vec3 toEye = normalize(cameraPosition - vPlace);
  float top = smoothstep(0.9, 0.99, dot(inverseTransformDirection(normal, viewMatrix), vec3(0.0, 1.0, 0.0)));
  // Rims of the relief are thinner than a pixel from afar: held down, or they sparkle.
  outgoingLight = mix(min(outgoingLight, vec3(0.10)), outgoingLight, top);
  vec3 key = normalize(vec3(-0.45, 0.85, 0.35));
  vec3 band = grating(toEye, key, 900.0);
  // Blocks of the floor plan repeat at slightly different pitches, so the bands break up along them when near.
  float cell = fract(sin(dot(floor(vPlace.xz / vec2(2.6, 1.3)), vec2(12.9898, 78.233))) * 43758.5453);
  float near = 1.0 - smoothstep(0.05, 0.25, fwidth(vPlace.x));
  outgoingLight += uDiffraction * top * band * 0.085 * mix(0.8, 0.55 + 0.45 * cell, near);
}`;
