/*
 * What each kind of part looks like, by the name its material has in the model. The model carries names only, because
 * glTF as written there knows neither iridescence nor this exhibit's themes. Every material also takes a veil (faded
 * parts) and a glow (a part pointed at), both per instance, so that fading one stack costs no draw call.
 */
import { Color, type IUniform, type Material, MeshPhysicalMaterial, MeshStandardMaterial } from "three";
import { DIFFRACTION_FRAGMENT, DIFFRACTION_HEADER } from "./diffraction";
import { type PlainLight, plainLight, plainMaterial } from "./plain-material";
import type { Room } from "./themes";
import type { Theme } from "./types";

interface Look {
  gallery: string;
  /** Where a theme needs another shade than the gallery's. */
  dark?: string;
  projector?: string;
  roughness: number;
  metalness: number;
}

export const LOOKS: Record<string, Look> = {
  base_plate: { gallery: "#3b3d42", dark: "#44474e", projector: "#8b8e94", roughness: 0.5, metalness: 0.35 },
  caption: { gallery: "#d8d2c6", projector: "#1b1c1e", roughness: 0.5, metalness: 0.4 },
  substrate_mask: { gallery: "#0f5a38", dark: "#13633f", projector: "#1d7048", roughness: 0.46, metalness: 0 },
  substrate_core: { gallery: "#5f5537", projector: "#a8986a", roughness: 0.8, metalness: 0 },
  copper: { gallery: "#d98a55", roughness: 0.32, metalness: 1 },
  ceramic: { gallery: "#c09a6b", projector: "#cfae84", roughness: 0.7, metalness: 0 },
  tin: { gallery: "#d5d6d8", roughness: 0.34, metalness: 1 },
  solder: { gallery: "#c9cbce", roughness: 0.38, metalness: 1 },
  interposer_silicon: { gallery: "#7075c0", dark: "#787dc8", projector: "#bcc0f2", roughness: 0.28, metalness: 0.4 },
  moulding: { gallery: "#3a3b3d", dark: "#3d3f42", projector: "#46494d", roughness: 0.86, metalness: 0 },
  die_silicon: { gallery: "#08090c", dark: "#0a0b0f", projector: "#242933", roughness: 0.16, metalness: 0.35 },
  die_relief: { gallery: "#0b0d12", dark: "#0d0f15", projector: "#292e3a", roughness: 0.22, metalness: 0.45 },
  hbm_graphite: { gallery: "#bcc0c4", dark: "#c0c4c8", projector: "#c9cccf", roughness: 0.36, metalness: 0.55 },
  hbm_base_die: { gallery: "#6d7176", dark: "#73777c", projector: "#94979b", roughness: 0.4, metalness: 0.5 },
  hbm_film: { gallery: "#26282b", projector: "#5c5f63", roughness: 0.8, metalness: 0 },
  laser_mark: { gallery: "#eceae4", projector: "#4a4d51", roughness: 0.75, metalness: 0 },
};

const FALLBACK: Look = { gallery: "#8a8a8a", roughness: 0.6, metalness: 0.1 };

/** Materials whose highlight is split into colours by the fine grid of the circuit. */
const DIFFRACTING = new Set(["die_silicon", "die_relief"]);

const VERTEX_HEADER = /* glsl */ `
attribute vec2 aState;
varying vec2 vState;
varying vec3 vPlace;`;

const VERTEX_BODY = /* glsl */ `
vState = aState;
vPlace = (modelMatrix * instanceMatrix * vec4(position, 1.0)).xyz;`;

const FRAGMENT_HEADER = /* glsl */ `
uniform vec3 uVeil;
uniform vec3 uGlow;
uniform float uDiffraction;
varying vec2 vState;
varying vec3 vPlace;`;

// A veiled part keeps a trace of its shading, so that its form can still be read.
const FRAGMENT_BODY = /* glsl */ `
float form = 0.72 + 0.28 * clamp(dot(normal, vec3(0.0, 0.8, 0.6)), 0.0, 1.0);
outgoingLight = mix(outgoingLight, uVeil * form, vState.x) + uGlow * vState.y;
#include <opaque_fragment>`;

export class Materials {
  /** Light of the plain materials; the stage keeps it in step with its own. */
  readonly light: PlainLight;
  private readonly made = new Map<string, Material & { color: Color }>();
  private readonly veil: IUniform<Color> = { value: new Color() };
  private readonly glow: IUniform<Color> = { value: new Color() };
  private readonly diffraction: IUniform<number> = { value: 1 };

  constructor() {
    this.light = plainLight(this.veil, this.glow);
  }

  /** `plain`: lit per corner, for the low tier. */
  get(name: string, plain: boolean): Material {
    const key = `${name} ${plain}`;
    const known = this.made.get(key);
    if (known) return known;
    const look = LOOKS[name] ?? FALLBACK;
    const diffracts = DIFFRACTING.has(name);
    const material = plain
      ? plainMaterial(this.light, look.roughness, look.metalness, diffracts)
      : this.full(look, diffracts);
    material.name = name;
    this.made.set(key, material);
    return material;
  }

  setTheme(theme: Theme, room: Room): void {
    for (const material of this.made.values()) {
      const look = LOOKS[material.name] ?? FALLBACK;
      material.color.set(look[theme] ?? look.gallery);
    }
    this.veil.value.set(room.veil);
    this.glow.value.set(room.accent).multiplyScalar(0.16);
    this.diffraction.value = theme === "projector" ? 0.5 : 1;
    this.light.uStudio.value = room.studio;
  }

  dispose(): void {
    for (const material of this.made.values()) material.dispose();
    this.made.clear();
  }

  private full(look: Look, diffracts: boolean): MeshStandardMaterial {
    const material = diffracts
      ? new MeshPhysicalMaterial({ iridescence: 0.35, iridescenceIOR: 1.6, iridescenceThicknessMaximum: 320 })
      : new MeshStandardMaterial();
    material.roughness = look.roughness;
    material.metalness = look.metalness;
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, { uVeil: this.veil, uGlow: this.glow, uDiffraction: this.diffraction });
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", `#include <common>${VERTEX_HEADER}`)
        .replace("#include <begin_vertex>", `#include <begin_vertex>${VERTEX_BODY}`);
      shader.fragmentShader = shader.fragmentShader
        .replace("#include <common>", `#include <common>${FRAGMENT_HEADER}${diffracts ? DIFFRACTION_HEADER : ""}`)
        .replace("#include <opaque_fragment>", `${diffracts ? DIFFRACTION_FRAGMENT : ""}${FRAGMENT_BODY}`);
    };
    // Kept apart by what was added, or three would share one program between them.
    material.customProgramCacheKey = () => (diffracts ? "part-diffracting" : "part");
    return material;
  }
}
