/* TypeScript tests live beside the Python ones, in tests/static, mirroring static/src. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["../tests/static/**/*.test.ts"], environment: "node" },
  server: { fs: { allow: [".."] } },
});
