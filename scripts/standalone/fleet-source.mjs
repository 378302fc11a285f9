// The package of batches as one text for the standalone command. It brings the library along once more: the command's own copy is taken apart.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "../bundle-options.mjs";
import { withoutDefaultValidator } from "../without-default-validator.mjs";

/** A function's body with `require`, `module` and `exports`. What people install beside the package (an engine, a database) is not in it. */
export async function fleetSource() {
  const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: {
      contents: 'export * from "./exports/index.ts"; export { work } from "./batch/work.ts";',
      resolveDir: join(root, "packages/fleet/src"),
    },
    bundle: true,
    minify: true,
    format: "cjs",
    platform: "node",
    target: "node20.19",
    conditions: ["outrider-source"],
    supported: { "dynamic-import": false },
    external: ["@restatedev/*", "pg", "pg-native", "@vscode/ripgrep"],
    define: { OUTRIDER_VERSION: JSON.stringify(version), "import.meta.url": JSON.stringify("standalone:") },
    plugins: [withoutDefaultValidator()],
    write: false,
    logLevel: "warning",
  });
  return outputFiles[0].text;
}
