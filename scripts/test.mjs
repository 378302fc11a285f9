// Runs the tests: builds the packages, compiles every *.test.ts with esbuild, hands them to Node's own test runner.
// `npm test -- PATTERN…` runs the files whose path contains a pattern; `--node PATH` runs them on another Node.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const output = join(root, `.cache/tests-${process.pid}`); // inside the project, so that packages resolve
const args = process.argv.slice(2);
const nodeFlag = args.indexOf("--node");
const node = nodeFlag === -1 ? process.execPath : args.splice(nodeFlag, 2)[1];
const skipBuild = args.includes("--no-build");
const patterns = args.filter((arg) => !arg.startsWith("--"));

if (!skipBuild) {
  const built = spawnSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
  if (built.status !== 0) process.exit(built.status ?? 1);
}

const sources = listTests(root)
  .map((file) => relative(root, file))
  .filter((file) => patterns.length === 0 || patterns.some((pattern) => file.includes(pattern)));
if (sources.length === 0) {
  console.error(`No test file matches ${patterns.join(", ")}`);
  process.exit(1);
}

mkdirSync(output, { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: sources,
  outbase: root,
  outdir: output,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  packages: "external",
  alias: {
    "@outrider/runtime/admin": join(root, "packages/runtime/src/exports/admin.ts"),
    "@outrider/runtime/live": join(root, "packages/runtime/src/exports/live.ts"),
    "@outrider/runtime/mcp": join(root, "packages/runtime/src/exports/mcp.ts"),
    "@outrider/runtime/atif": join(root, "packages/runtime/src/exports/atif.ts"),
    "@outrider/runtime/host": join(root, "packages/runtime/src/exports/host.ts"),
    "@outrider/runtime": join(root, "packages/runtime/src/exports/index.ts"),
  },
  conditions: ["outrider-source"],
  format: "esm",
  platform: "node",
  target: "node20.19",
  sourcemap: "inline",
  define: { OUTRIDER_VERSION: '"0.0.0-test"' },
  logLevel: "warning",
});

const compiled = sources.map((file) => join(output, file.replace(/\.ts$/, ".mjs")));
const run = spawnSync(
  node,
  [
    "--enable-source-maps",
    "--test",
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    "--test-concurrency=2",
    ...compiled,
  ],
  { stdio: "inherit", cwd: root, env: { ...process.env, OUTRIDER_ROOT: root, NODE_OPTIONS: "" } },
);
rmSync(output, { recursive: true, force: true });
process.exit(run.status ?? 1);

function listTests(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (["node_modules", "dist", ".cache", ".git"].includes(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listTests(path);
    return entry.name.endsWith(".test.ts") ? [path] : [];
  });
}
