/*
 * Makes three.js smaller where the stand loses nothing: shader texts are built without comments, indentation and the
 * blanks between symbols, those of materials and features that the stand never asks for are left out, and the manager
 * of VR headsets, which the renderer creates whether or not anybody asks for one, is replaced by one that is never
 * presenting. Works on the library's source files, so that each can be found by its path.
 */
import { fileURLToPath } from "node:url";
import type { Alias, Plugin } from "vite";

const SHADER = /three\/src\/renderers\/shaders\/.*\.glsl\.js$/;

/** Shaders of materials that the stand has none of: it draws with the standard and the physical one and its own. */
const UNUSED_MATERIALS = [
  ...["meshlambert", "meshmatcap", "meshphong", "meshtoon", "linedashed", "points", "sprite"],
  ...["background", "backgroundCube", "equirect", "distance", "shadow", "vsm"],
];
/** Pieces of the shaders that are left, behind an #ifdef that the stand never defines. */
const UNUSED_FEATURES = [
  ...["alphahash_fragment", "alphahash_pars_fragment", "alphamap_fragment", "alphamap_pars_fragment"],
  ...["alphatest_fragment", "alphatest_pars_fragment", "aomap_fragment", "aomap_pars_fragment"],
  ...["batching_pars_vertex", "batching_vertex", "bumpmap_pars_fragment"],
  ...["clearcoat_normal_fragment_begin", "clearcoat_normal_fragment_maps", "clearcoat_pars_fragment"],
  ...["clipping_planes_fragment", "clipping_planes_pars_fragment", "clipping_planes_pars_vertex"],
  ...["clipping_planes_vertex", "displacementmap_pars_vertex", "displacementmap_vertex", "dithering_fragment"],
  ...["dithering_pars_fragment", "envmap_fragment"],
  ...["envmap_pars_fragment", "envmap_pars_vertex", "envmap_vertex", "fog_fragment", "fog_pars_fragment"],
  ...["fog_pars_vertex", "fog_vertex", "gradientmap_pars_fragment", "lightmap_pars_fragment"],
  ...["lightprobes_pars_fragment", "lights_lambert_fragment", "lights_lambert_pars_fragment"],
  ...["lights_phong_fragment", "lights_phong_pars_fragment", "lights_toon_fragment", "lights_toon_pars_fragment"],
  ...["logdepthbuf_fragment", "logdepthbuf_pars_fragment", "logdepthbuf_pars_vertex", "logdepthbuf_vertex"],
  ...["map_particle_fragment", "map_particle_pars_fragment", "metalnessmap_pars_fragment", "morphcolor_vertex"],
  ...["morphinstance_vertex", "morphnormal_vertex", "morphtarget_pars_vertex", "morphtarget_vertex"],
  ...["normal_fragment_maps", "normalmap_pars_fragment", "roughnessmap_pars_fragment", "shadowmask_pars_fragment"],
  ...["skinbase_vertex", "skinning_pars_vertex", "skinning_vertex", "skinnormal_vertex"],
  ...["specularmap_fragment", "specularmap_pars_fragment", "transmission_fragment", "transmission_pars_fragment"],
];
/** Never defined by the stand: what stands behind them inside the shaders that are used goes too. */
const NEVER = new Set([
  ...["USE_ALPHAHASH", "USE_ALPHAMAP", "USE_ALPHATEST", "USE_ANISOTROPY", "USE_ANISOTROPYMAP", "USE_AOMAP"],
  ...["USE_BATCHING", "USE_BATCHING_COLOR", "USE_BUMPMAP", "USE_CLEARCOAT", "USE_CLEARCOATMAP"],
  ...["USE_CLEARCOAT_NORMALMAP", "USE_CLEARCOAT_ROUGHNESSMAP", "USE_DISPERSION", "USE_DISPLACEMENTMAP", "USE_FOG"],
  ...["USE_IRIDESCENCEMAP", "USE_IRIDESCENCE_THICKNESSMAP", "USE_LIGHTMAP", "USE_LOGARITHMIC_DEPTH_BUFFER"],
  ...["USE_METALNESSMAP", "USE_MORPHCOLORS", "USE_MORPHNORMALS", "USE_MORPHTARGETS", "USE_NORMALMAP"],
  ...["USE_NORMALMAP_OBJECTSPACE", "USE_NORMALMAP_TANGENTSPACE", "USE_ROUGHNESSMAP", "USE_SHEEN"],
  ...["USE_SHEEN_COLORMAP", "USE_SHEEN_ROUGHNESSMAP", "USE_SKINNING", "USE_SPECULARMAP", "USE_SPECULAR_COLORMAP"],
  ...["USE_SPECULAR_INTENSITYMAP", "USE_THICKNESSMAP", "USE_TRANSMISSION", "USE_TRANSMISSIONMAP"],
]);
export const UNUSED = [
  ...UNUSED_MATERIALS.map((name) => `ShaderLib/${name}.glsl.js`),
  ...UNUSED_FEATURES.map((name) => `ShaderChunk/${name}.glsl.js`),
];

export const threeFromSource: Alias[] = [
  { find: /^three$/, replacement: fileURLToPath(new URL("./node_modules/three/src/Three.js", import.meta.url)) },
  {
    find: /^.*\/webxr\/WebXRManager\.js$/,
    replacement: fileURLToPath(new URL("./src/stand/no-headset.ts", import.meta.url)),
  },
];

/**
 * One line of GLSL. A line of the preprocessor keeps its blanks, since `#define A (b)` and `#define A(b)` differ, and so
 * do plus and minus: `a - -b` is not `a--b`.
 */
function slimLine(line: string): string {
  const text = line.replace(/\/\/.*$/, "").trim();
  return text.startsWith("#") ? text : text.replace(/\s*([=*/<>,;(){}?:&|!])\s*/g, "$1");
}

/** Lines without the branches that a name in NEVER, or the lack of area lights, rules out. */
export function withoutDead(lines: readonly string[]): string[] {
  const kept: string[] = [];
  // Of each open condition: whether it was decided here, and whether its present branch is dropped.
  const open: { decided: boolean; dropped: boolean }[] = [];
  for (const line of lines) {
    const [, word, rest = ""] = /^#\s*(ifdef|ifndef|if|elif|else|endif)\b\s*(.*)$/.exec(line) ?? [];
    const dropping = open.some(({ dropped }) => dropped);
    const top = open[open.length - 1];
    if (word === "if" || word === "ifdef" || word === "ifndef") {
      const name = word === "if" ? (/^defined\(\s*(\w+)\s*\)$/.exec(rest)?.[1] ?? "") : rest.trim();
      const never = NEVER.has(name) || (word === "if" && /^NUM_RECT_AREA_LIGHTS\s*>\s*0$/.test(rest));
      open.push({ decided: never, dropped: never && word !== "ifndef" });
      if (!never && !dropping) kept.push(line);
      continue;
    }
    if (word === "elif" && top?.decided) {
      // The first branch fell away or always holds; what follows it is a condition of its own, or nothing.
      if (!top.dropped) throw new Error(`an #elif after #ifndef cannot be left out: ${line}`);
      open.pop();
      open.push({ decided: false, dropped: false });
      if (!open.some(({ dropped }) => dropped)) kept.push(`#if ${rest}`);
      continue;
    }
    if (word === "else" && top?.decided) {
      top.dropped = !top.dropped;
      continue;
    }
    if (word === "endif") {
      open.pop();
      if (!top?.decided && !open.some(({ dropped }) => dropped)) kept.push(line);
      continue;
    }
    if (!dropping) kept.push(line);
  }
  return kept;
}

export function slimShaders(): Plugin {
  return {
    name: "slim-shaders",
    transform(code, id) {
      if (!SHADER.test(id)) return null;
      const unused = UNUSED.some((path) => id.endsWith(path));
      const slim = code.replace(/\/\* glsl \*\/\s*`([^`]*)`/g, (_, text: string) => {
        if (unused) return "``";
        const lines = text
          .replace(/\/\*[\s\S]*?\*\//g, "")
          .split("\n")
          .map(slimLine)
          .filter(Boolean);
        return `\`\n${withoutDead(lines).join("\n")}\n\``;
      });
      return { code: slim, map: null };
    },
  };
}
