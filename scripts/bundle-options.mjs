// How everything that runs on the sources (tests, torture, mutants) is bundled.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const { exports: published } = JSON.parse(readFileSync(join(root, "packages/runtime/package.json"), "utf8"));
const subpaths = Object.keys(published).flatMap((name) => (name === "." ? [] : [name.slice(2)]));

/** One `.mjs` per entry; the packages' sources take the place of what is built of them. */
export const bundleOptions = {
  absWorkingDir: root,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  packages: "external",
  alias: {
    ...Object.fromEntries(
      subpaths.map((name) => [`@outrider/runtime/${name}`, join(root, `packages/runtime/src/exports/${name}.ts`)]),
    ),
    "@outrider/runtime": join(root, "packages/runtime/src/exports/index.ts"),
    ...Object.fromEntries(
      ["report", "index", "compare", "live", "docs"].map((name) => [
        `@outrider/web/assets/${name}`,
        join(root, `packages/web/dist/${name}-assets.js`),
      ]),
    ),
    "@outrider/fleet/restate": join(root, "packages/fleet/src/exports/restate.ts"),
    "@outrider/fleet/testing": join(root, "packages/fleet/src/exports/testing.ts"),
    "@outrider/fleet": join(root, "packages/fleet/src/exports/index.ts"),
    "@outrider/web": join(root, "packages/web/src/model/index.ts"),
  },
  conditions: ["outrider-source"],
  format: "esm",
  platform: "node",
  target: "node20.19",
  logLevel: "warning",
};
