import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const root = dirname(import.meta.dirname);

/** Parts of the library that it does not publish, from its sources: `{ decide: "permissions/decide.ts" }`. */
export async function importSources(parts) {
  const bundle = join(root, `.cache/bench-${process.pid}.mjs`); // inside the project, so that packages resolve
  mkdirSync(dirname(bundle), { recursive: true });
  await build({
    stdin: {
      contents: Object.entries(parts)
        .map(([name, path]) => `export { ${name} } from "./packages/runtime/src/${path}";`)
        .join("\n"),
      resolveDir: root,
    },
    outfile: bundle,
    bundle: true,
    packages: "external",
    conditions: ["outrider-source"],
    format: "esm",
    platform: "node",
    target: "node20.19",
    define: { OUTRIDER_VERSION: '"0.0.0-bench"' },
  });
  try {
    return await import(bundle);
  } finally {
    rmSync(bundle);
  }
}
