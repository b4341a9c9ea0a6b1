/*
 * Makes three.js smaller where the stand loses nothing: its shader texts are built without comments, indentation and the
 * blanks between symbols, and the manager of VR headsets, which the renderer creates whether or not anybody asks for
 * one, is replaced by one that is never presenting. Works on the library's source files, so that each can be found by
 * its path.
 */
import { fileURLToPath } from "node:url";
import type { Alias, Plugin } from "vite";

const SHADER = /three\/src\/renderers\/shaders\/.*\.glsl\.js$/;

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
      const slim = code.replace(/\/\* glsl \*\/\s*`([^`]*)`/g, (_, text: string) => {
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
