// Tests with packages that are no dependencies of the project. They are installed on the first run, into the folder of the suite: the Claude
// Agent SDK, which drives the built command (without the 200 MB binary it would bring along), the libraries whose models and schemas
// the runtime takes, clients of other front ends, the conformance suite of MCP, programs that drive the command over ACP and MCP, and the engine and stores of fleets. `npm run test:sdk -- PATTERN…` runs the files whose path contains a pattern; `--no-build` uses the last build, `--node PATH` another Node,
// `--again` gives files that failed a second try.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { between, installNode } from "./install-node.mjs";
import { runTestFiles } from "./run-test-files.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const args = process.argv.slice(2);
const nodeFlag = args.indexOf("--node");
const node = nodeFlag === -1 ? process.execPath : args.splice(nodeFlag, 2)[1];
const skipBuild = args.includes("--no-build");
const writesTable = args.includes("--write-table"); // of options, into docs/agent-sdk.md; nothing else is run then
const patterns = writesTable ? ["agent-sdk/table."] : args.filter((arg) => !arg.startsWith("--"));

if (!skipBuild) mustRun(process.execPath, [join(root, "scripts/build.mjs")], root);

const suites = ["test/agent-sdk", "test/libraries", "test/mcp-conformance", "test/dialects", "test/clients", "test/fleet"].map(
  (folder) => ({
    folder,
    files: filesOf(folder),
  }),
);
if (suites.every(({ files }) => files.length === 0)) {
  console.error(`No file of the suites matches ${patterns.join(", ")}`);
  process.exit(1);
}
let failed = false;
for (const { folder, files } of suites) if (files.length > 0) failed = !(await passes(join(root, folder), files)) || failed;
process.exit(failed ? 1 : 0);

function filesOf(folder) {
  const files = readdirSync(join(root, folder)).filter((file) => file.endsWith(".suite.ts"));
  return files.filter((file) => patterns.length === 0 || patterns.some((pattern) => join(folder, file).includes(pattern)));
}

async function passes(suite, sources) {
  if (!isInstalled(suite)) mustRun("npm", ["ci", ...omitted(suite), "--ignore-scripts", "--no-audit", "--no-fund"], suite);
  mustRun(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--noEmit", "-p", suite], root);
  const output = join(suite, `.cache/${process.pid}`); // inside the suite, so that its packages resolve
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
  const passed = runTestFiles({
    node,
    files: sources.map((file) => join(output, file.replace(/\.ts$/, ".mjs"))),
    timeoutMs: /mcp-conformance$|fleet$/.test(suite) ? 600_000 : 60_000,
    concurrency: 2,
    again: args.includes("--again"),
    cwd: suite,
    env: { ...process.env, OUTRIDER_ROOT: root, OUTRIDER_WRITE_TABLE: writesTable ? "1" : "", ...newerNode(suite) },
  });
  rmSync(output, { recursive: true, force: true });
  return passed;
}

/** A binary is among them: that of the Agent SDK is not used, that of the durable engine is. */
function omitted(suite) {
  return suite.endsWith("fleet") ? [] : ["--omit=optional"];
}

/** Programs of others may want a newer Node than the product does. */
function newerNode(suite) {
  return suite.endsWith("clients") ? { OUTRIDER_NEWER_NODE: installNode(between[0]) } : {};
}

/** The versions that package.json asks for are there. */
function isInstalled(suite) {
  const read = (path) => JSON.parse(readFileSync(path, "utf8"));
  return Object.entries(read(join(suite, "package.json")).dependencies).every(([name, wanted]) => {
    const installed = join(suite, "node_modules", name, "package.json");
    return existsSync(installed) && read(installed).version === wanted.replace(/^npm:.*@/, "");
  });
}

function mustRun(program, words, cwd) {
  const { status } = spawnSync(program, words, { cwd, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
