/* What the build leaves out of three's shaders: nothing that the stand could ask for, and only files that exist. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { UNUSED, withoutDead } from "../../static/slim-three";

const SHADERS = join(import.meta.dirname, "../../static/node_modules/three/src/renderers/shaders");
const NEVER = ["USE_SHEEN", "USE_FOG", "USE_TRANSMISSION", "USE_NORMALMAP_TANGENTSPACE", "USE_BUMPMAP", "USE_CLEARCOAT"];

/** Lines a preprocessor would keep. Whether a condition holds is asked of `guess`. */
function preprocessed(lines: readonly string[], guess: (condition: string) => boolean): string[] {
  const kept: string[] = [];
  const open: { on: boolean; done: boolean }[] = [];
  for (const line of lines) {
    const [, word = "", rest = ""] = /^#\s*(\w+)\s*(.*)$/.exec(line) ?? [];
    const top = open[open.length - 1];
    if (word === "ifdef" || word === "ifndef" || word === "if") {
      const condition = word === "if" ? rest : `defined( ${rest} )`;
      const on = guess(condition.replace(/\s/g, "")) !== (word === "ifndef");
      open.push({ on, done: on });
    } else if (word === "elif" && top) {
      top.on = !top.done && guess(rest.replace(/\s/g, ""));
      top.done ||= top.on;
    } else if (word === "else" && top) top.on = !top.done;
    else if (word === "endif") open.pop();
    else if (open.every(({ on }) => on)) kept.push(line);
  }
  return kept;
}

function shaderLines(): [string, string[]][] {
  return ["ShaderChunk", "ShaderLib"].flatMap((folder) =>
    readdirSync(join(SHADERS, folder)).map((file): [string, string[]] => {
      const text = readFileSync(join(SHADERS, folder, file), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
      const lines = text.split("\n").map((line) => line.replace(/\/\/.*$/, "").trim());
      return [file, lines.filter(Boolean)];
    }),
  );
}

it("leaves every line that some setting of the other switches would compile", () => {
  let dropped = 0;
  for (const [file, lines] of shaderLines())
    for (let round = 0; round < 6; round++) {
      const guess = (condition: string) => {
        const [, name] = /^defined\((\w+)\)$/.exec(condition) ?? [];
        if (/NUM_RECT_AREA_LIGHTS>0/.test(condition)) return false;
        if (name && withoutDead([`#ifdef ${name}`, "x", "#endif"]).length === 0) return false;
        let sum = round;
        for (const letter of condition) sum = (sum * 31 + letter.charCodeAt(0)) % 1009;
        return sum % 2 === 0;
      };
      const slim = withoutDead(lines);
      dropped += lines.length - slim.length;
      expect(preprocessed(slim, guess), file).toEqual(preprocessed(lines, guess));
    }
  expect(dropped).toBeGreaterThan(500);
});

it.each(NEVER)("leaves out what stands behind %s", (name) => {
  expect(withoutDead([`#ifdef ${name}`, "a", "#else", "b", "#endif", "c"])).toEqual(["b", "c"]);
  expect(withoutDead([`#if defined( ${name} )`, "a", "#elif defined( USE_MAP )", "b", "#endif"])).toEqual([
    "#if defined( USE_MAP )",
    "b",
    "#endif",
  ]);
  expect(withoutDead([`#ifndef ${name}`, "a", "#endif"])).toEqual(["a"]);
});

it("empties only files that are there", () => {
  for (const path of UNUSED) expect(existsSync(join(SHADERS, path)), path).toBe(true);
});
