// npm run differential -- [NAME-PART…] [--verbose] [--dump FOLDER]: plays test/differential/scenarios.json with the built command and with Claude Code from npm, both against
// one scripted model in a network namespace that has loopback only, and prints what differs. Exit code 1 when a difference is in no table
// (test/contract/claude-differences.json, test/differential/differences.json). Linux; needs unshare and ip.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { bundleOptions, root } from "./bundle-options.mjs";

/** The release that docs/contract.md speaks of. */
const version = "2.1.325";
const folder = join(root, ".cache/differential");
const claude = join(folder, "node_modules/.bin/claude");

if (!process.env.OUTRIDER_ALONE) {
  if (!existsSync(claude)) install();
  const script = 'ip link set lo up && exec "$@"';
  const inner = ["bash", "-c", script, "bash", process.execPath, import.meta.filename, ...process.argv.slice(2)];
  const { status } = spawnSync("unshare", ["--map-root-user", "--net", ...inner], {
    stdio: "inherit",
    env: { ...process.env, OUTRIDER_ALONE: "1" },
  });
  process.exit(status ?? 1);
}

const output = join(root, `.cache/differential-${process.pid}`); // inside the project, so that packages resolve
try {
  const entry = join(root, "test/differential/main.ts");
  await build({ ...bundleOptions, entryPoints: [entry], outdir: output, define: { OUTRIDER_VERSION: '"0.0.0-differential"' } });
  const { differential } = await import(pathToFileURL(join(output, "main.mjs")).href);
  const outrider = [process.execPath, process.env.OUTRIDER_TEST_COMMAND ?? join(root, "packages/cli/bin/outrider.js")];
  process.exitCode = await differential(process.argv.slice(2), { project: root, claude, outrider });
} finally {
  rmSync(output, { recursive: true, force: true });
}

/** From npm, into a folder of its own: it is no dependency of this project. */
function install() {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const flags = ["--no-audit", "--no-fund", "--foreground-scripts"];
  execFileSync("npm", ["install", ...flags, `@anthropic-ai/claude-code@${version}`], { cwd: folder, stdio: "inherit" });
}
