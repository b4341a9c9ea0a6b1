/*
 * Diffraction on the die: wiring repeats at about the wavelength of light, so a polished die splits the key light into
 * bands of colour that move with the view. First order of a grating along both axes, d (sin θ_in − sin θ_out) = λ, with
 * the colour of λ; kept faint and cut by the rows of the floor plan.
 */

export const DIFFRACTION_HEADER = /* glsl */ `
// Colour of a wavelength in nanometres, as three bumps; zero outside what is seen.
vec3 spectrum(float nm) {
  vec3 d = (vec3(nm) - vec3(615.0, 545.0, 455.0)) / vec3(52.0, 46.0, 40.0);
  return exp(-0.5 * d * d);
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
  vec3 key = normalize(vec3(-0.45, 0.85, 0.35));
  vec3 band = grating(toEye, key, 900.0);
  // Blocks of the floor plan repeat at slightly different pitches, so the bands break up along them.
  float cell = fract(sin(dot(floor(vPlace.xz / vec2(2.6, 1.3)), vec2(12.9898, 78.233))) * 43758.5453);
  outgoingLight += uDiffraction * top * band * vec3(0.055, 0.05, 0.075) * (0.55 + 0.45 * cell);
}`;
