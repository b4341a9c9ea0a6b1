// Reads a GLB with the Khronos validator and prints one JSON line: issue counts, messages, size as served.
// Run: node validate.mjs MODEL.glb FOLDER-WITH-node_modules
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

const [model, project] = process.argv.slice(2);
const validator = createRequire(join(resolve(project), "package.json"))("gltf-validator");
const bytes = readFileSync(model);
const report = await validator.validateBytes(new Uint8Array(bytes), { maxIssues: 1000 });
const packed = brotliCompressSync(bytes, {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  },
});
const { numErrors, numWarnings, messages } = report.issues;
console.log(JSON.stringify({ errors: numErrors, warnings: numWarnings, messages, brotli_bytes: packed.length }));
