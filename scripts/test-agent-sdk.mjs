// Lets the Claude Agent SDK drive the built command. The SDK is no dependency of the project: it is installed here, on the first run,
// into test/agent-sdk, without the 200 MB binary it would bring along.
// `npm run test:sdk -- PATTERN…` runs the files whose name contains a pattern; `--no-build` uses the last build, `--node PATH` another Node.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const suite = join(root, "test/agent-sdk");
const output = join(suite, `.cache/${process.pid}`); // inside the suite, so that the SDK resolves
const args = process.argv.slice(2);
const nodeFlag = args.indexOf("--node");
const node = nodeFlag === -1 ? process.execPath : args.splice(nodeFlag, 2)[1];
const skipBuild = args.includes("--no-build");
const patterns = args.filter((arg) => !arg.startsWith("--"));

if (!skipBuild) mustRun(process.execPath, [join(root, "scripts/build.mjs")], root);
if (!isInstalled()) mustRun("npm", ["ci", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"], suite);
mustRun(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--noEmit", "-p", suite], root);

const sources = readdirSync(suite).filter(
  (file) => file.endsWith(".suite.ts") && (patterns.length === 0 || patterns.some((pattern) => file.includes(pattern))),
);
if (sources.length === 0) {
  console.error(`No file of the suite matches ${patterns.join(", ")}`);
  process.exit(1);
}
mkdirSync(output, { recursive: true });
await build({
  absWorkingDir: suite,
  entryPoints: sources,
  outdir: output,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  packages: "external",
  conditions: ["outrider-source"],
  format: "esm",
  platform: "node",
  target: "node20.19",
  sourcemap: "inline",
  define: { OUTRIDER_VERSION: '"0.0.0-test"' },
  logLevel: "warning",
});
const run = spawnSync(
  node,
  [
    "--enable-source-maps",
    "--test",
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    "--test-concurrency=2",
    "--test-timeout=60000",
    ...sources.map((file) => join(output, file.replace(/\.ts$/, ".mjs"))),
  ],
  { stdio: "inherit", cwd: suite, env: { ...process.env, OUTRIDER_ROOT: root, NODE_OPTIONS: "" } },
);
rmSync(output, { recursive: true, force: true });
process.exit(run.status ?? 1);

/** The version that package.json asks for is there. */
function isInstalled() {
  const name = "@anthropic-ai/claude-agent-sdk";
  const installed = join(suite, "node_modules", name, "package.json");
  const wanted = JSON.parse(readFileSync(join(suite, "package.json"), "utf8")).dependencies[name];
  return existsSync(installed) && JSON.parse(readFileSync(installed, "utf8")).version === wanted;
}

function mustRun(program, words, cwd) {
  const { status } = spawnSync(program, words, { cwd, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
