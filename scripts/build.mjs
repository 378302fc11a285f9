// Builds both packages: bundles with esbuild, declarations with tsc. One command, about two seconds.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const runtime = join(root, "packages/runtime");
const cli = join(root, "packages/cli");
const readPackage = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

const shared = {
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  conditions: ["outrider-source"],
  minifySyntax: true,
  minifyWhitespace: true,
  chunkNames: "chunk-[name]-[hash]",
  define: { OUTRIDER_VERSION: JSON.stringify(readPackage(cli).version) },
  logLevel: "warning",
};

rmSync(join(runtime, "dist"), { recursive: true, force: true });
rmSync(join(cli, "dist"), { recursive: true, force: true });

const entries = Object.values(readPackage(runtime).exports).map((target) => join(runtime, target["outrider-source"]));
const [, cliBuild] = await Promise.all([
  build({ ...shared, entryPoints: entries, outdir: join(runtime, "dist"), packages: "external" }),
  build({
    ...shared,
    entryPoints: [join(cli, "src/main.ts")],
    outdir: join(cli, "dist"),
    external: ["@vscode/ripgrep"],
    metafile: true,
  }),
]);
// What each output file is made of: the start-up test reads which sources the command loads before it needs them.
writeFileSync(join(cli, "dist/meta.json"), JSON.stringify(cliBuild.metafile));

if (!process.argv.includes("--no-types")) {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", join(runtime, "tsconfig.build.json")], { stdio: "inherit" });
}
