// Runs the tests: builds the packages, compiles every *.test.ts with esbuild, hands them to Node's own test runner.
// `npm test -- PATTERN…` runs the files whose path contains a pattern; `--node PATH` runs them on another Node,
// `--again` gives files that failed a second try (CI does).
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { build } from "esbuild";
import { bundleOptions, root } from "./bundle-options.mjs";
import { listTests } from "./list-tests.mjs";
import { runTestFiles } from "./run-test-files.mjs";

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
  ...bundleOptions,
  entryPoints: sources,
  outbase: root,
  outdir: output,
  splitting: true, // what several tests share is compiled, and read by Node, once: a tenth of the time, a twentieth of the bytes
  sourcemap: "inline",
  sourcesContent: false, // the sources are beside the tests; Node reads this map for each file that it runs
  define: { OUTRIDER_VERSION: '"0.0.0-test"' },
});

// Unit tests are short: they come last, so that no long file is left over for one processor at the end.
sources.sort((a, b) => Number(a.startsWith("packages/")) - Number(b.startsWith("packages/")));
const compiled = sources.map((file) => join(output, file.replace(/\.ts$/, ".mjs")));
const passed = runTestFiles({
  node,
  files: compiled,
  timeoutMs: 900_000, // one that hangs is a failure, not a run without an end
  concurrency: availableParallelism() + 1, // one more than there are processors: many tests wait for processes and clocks
  again: args.includes("--again"),
  cwd: root,
  env: { ...process.env, OUTRIDER_ROOT: root },
});
rmSync(output, { recursive: true, force: true });
process.exit(passed ? 0 : 1);
