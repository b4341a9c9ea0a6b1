/*
 * What each kind of part looks like, by the name its material has in the model. The model carries names only, because
 * glTF as written there knows neither iridescence nor this exhibit's themes. Every material also takes a veil (faded
 * parts) and a glow (a part pointed at), both per instance, so that fading one stack costs no draw call.
 */
import { Color, type IUniform, type Material, MeshPhysicalMaterial, MeshStandardMaterial } from "three";
import { DIFFRACTION_FRAGMENT, DIFFRACTION_HEADER } from "./diffraction";
import type { Room } from "./themes";
import type { Theme } from "./types";

interface Look {
  gallery: string;
  /** Where a theme needs another shade than the gallery's. */
  dark?: string;
  projector?: string;
  roughness: number;
  metalness: number;
  /** Share of the studio it mirrors. */
  mirror?: number;
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
  interposer_silicon: { gallery: "#5a5f9e", dark: "#666cb0", projector: "#7b81c4", roughness: 0.28, metalness: 0.5 },
  moulding: { gallery: "#3a3b3d", dark: "#3d3f42", projector: "#6d6f73", roughness: 0.86, metalness: 0 },
  die_silicon: { gallery: "#08090c", dark: "#0a0b0f", projector: "#22252e", roughness: 0.16, metalness: 0.35 },
  die_relief: { gallery: "#0b0d12", dark: "#0d0f15", projector: "#262a34", roughness: 0.22, metalness: 0.45 },
  hbm_graphite: { gallery: "#bcc0c4", dark: "#c0c4c8", projector: "#c9cccf", roughness: 0.36, metalness: 0.55 },
  hbm_base_die: { gallery: "#6d7176", dark: "#73777c", projector: "#94979b", roughness: 0.4, metalness: 0.5 },
  hbm_film: { gallery: "#26282b", projector: "#5c5f63", roughness: 0.8, metalness: 0 },
  laser_mark: { gallery: "#eceae4", projector: "#4a4d51", roughness: 0.75, metalness: 0 },
};

const FALLBACK: Look = { gallery: "#8a8a8a", roughness: 0.6, metalness: 0.1 };

/** Materials whose highlight is split into colours by the fine grid of the circuit. */
const DIFFRACTING = new Set(["die_silicon", "die_relief"]);

export class Materials {
  private readonly made = new Map<string, MeshStandardMaterial>();
  private readonly veil: IUniform<Color> = { value: new Color() };
  private readonly glow: IUniform<Color> = { value: new Color() };
  private readonly diffraction: IUniform<number> = { value: 1 };

  /** `fine`: iridescence and diffraction, left out at the low tier. */
  constructor(private readonly fine: boolean) {}

  get(name: string): Material {
    const known = this.made.get(name);
    if (known) return known;
    const look = LOOKS[name] ?? FALLBACK;
    const diffracts = DIFFRACTING.has(name);
    const material =
      diffracts && this.fine
        ? new MeshPhysicalMaterial({ iridescence: 0.35, iridescenceIOR: 1.6, iridescenceThicknessMaximum: 320 })
        : new MeshStandardMaterial();
    material.name = name;
    material.roughness = look.roughness;
    material.metalness = look.metalness;
    material.envMapIntensity = look.mirror ?? 1;
    material.onBeforeCompile = (shader) => {
      shader.uniforms.uVeil = this.veil;
      shader.uniforms.uGlow = this.glow;
      shader.uniforms.uDiffraction = this.diffraction;
      shader.vertexShader = shader.vertexShader
        .replace(
          "#include <common>",
          `#include <common>\nattribute vec2 aState;\nvarying vec2 vState;\nvarying vec3 vPlace;`,
        )
        .replace(
          "#include <begin_vertex>",
          `#include <begin_vertex>\nvState = aState;\nvPlace = (modelMatrix * instanceMatrix * vec4(position, 1.0)).xyz;`,
        );
      shader.fragmentShader = shader.fragmentShader
        .replace(
          "#include <common>",
          `#include <common>\nuniform vec3 uVeil;\nuniform vec3 uGlow;\nuniform float uDiffraction;\nvarying vec2 vState;\nvarying vec3 vPlace;
          ${diffracts ? DIFFRACTION_HEADER : ""}`,
        )
        .replace(
          "#include <opaque_fragment>",
          `${diffracts ? DIFFRACTION_FRAGMENT : ""}
          outgoingLight = mix(outgoingLight, uVeil * (0.72 + 0.28 * clamp(dot(normal, vec3(0.0, 0.8, 0.6)), 0.0, 1.0)), vState.x);
          outgoingLight += uGlow * vState.y;
          #include <opaque_fragment>`,
        );
    };
    // Kept apart by what was added, or three would share one program between them.
    material.customProgramCacheKey = () => (diffracts ? "part-diffracting" : "part");
    this.made.set(name, material);
    return material;
  }

  setTheme(theme: Theme, room: Room): void {
    for (const [name, material] of this.made) {
      const look = LOOKS[name] ?? FALLBACK;
      material.color.set(look[theme] ?? look.gallery);
    }
    this.veil.value.set(room.veil);
    this.glow.value.set(room.accent).multiplyScalar(0.35);
    this.diffraction.value = theme === "projector" ? 0.5 : 1;
  }

  dispose(): void {
    for (const material of this.made.values()) material.dispose();
    this.made.clear();
  }
}
