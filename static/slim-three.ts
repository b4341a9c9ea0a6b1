/*
 * Makes three.js smaller where the stand loses nothing: shader texts are built without comments, indentation and the
 * blanks between symbols, those of materials and features that the stand never asks for are left empty, and the manager
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
          .map(slimLine);
        return `\`\n${lines.filter(Boolean).join("\n")}\n\``;
      });
      return { code: slim, map: null };
    },
  };
}
