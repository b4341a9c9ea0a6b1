/* The browser bundle: one small entry that makes the page work, and the stand with three.js behind a dynamic import. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { slimShaders, threeFromSource } from "./slim-three.ts";

/** Writes a .br and a .gz beside every text-like output, so that the server never compresses at run time. */
function precompress(): Plugin {
  return {
    name: "precompress",
    apply: "build",
    writeBundle(options, bundle) {
      for (const fileName of Object.keys(bundle)) {
        if (!/\.(js|css|json|svg|glb|txt)$/.test(fileName)) continue;
        const path = join(options.dir ?? "dist", fileName);
        const bytes = readFileSync(path);
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  base: "/static/",
  publicDir: "public",
  plugins: [slimShaders(), precompress()],
  resolve: { alias: threeFromSource },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    manifest: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    target: "es2022",
    license: { fileName: "third-party-licenses.md" },
    rolldownOptions: { input: { main: "src/main.ts", measurements: "styles/measurements.css" } },
  },
  server: { fs: { allow: [".."] } },
});
