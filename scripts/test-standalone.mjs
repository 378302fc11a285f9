// Runs suites against the standalone command instead of the build. What is played in them by programs for Node needs one on the PATH;
// --without-node takes it away, and test/standalone does without it by itself.
// npm run test:standalone -- [PATTERN…] [--short] [--without-node] [--no-build] [--again]
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { root } from "./bundle-options.mjs";
import { ownPlatform } from "./standalone/platforms.mjs";

const args = process.argv.slice(2);
const patterns = args.filter((arg) => !arg.startsWith("--"));
const suites = args.includes("--short")
  ? ["test/standalone", "test/e2e/run.test", "test/e2e/sessions.test", "test/e2e/first-day.test", "test/e2e/mcp-serve.test"]
  : ["test/standalone", "test/e2e/", "test/contract/", "test/server/crash"];

const platform = ownPlatform();
if (!platform) throw new Error("There is no standalone command for this machine");
if (!args.includes("--no-build")) mustRun(join(root, "scripts/build-standalone.mjs"), [platform.name]);

// Not below /tmp, which the sandbox does not show.
mkdirSync(join(root, ".cache"), { recursive: true });
const folder = mkdtempSync(join(root, ".cache/without-node-"));
try {
  const flags = args.filter((arg) => arg === "--again");
  process.exitCode = run(join(root, "scripts/test.mjs"), ["--no-build", ...flags, ...(patterns.length > 0 ? patterns : suites)], {
    ...process.env,
    ...(args.includes("--without-node") && { PATH: linkPrograms(join(folder, "bin")) }),
    OUTRIDER_TEST_COMMAND: join(root, `dist/standalone/outrider-${platform.name}`),
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A folder with links to all that is on the PATH, but for what the command must do without. */
function linkPrograms(place) {
  mkdirSync(place);
  const seen = new Set(["node", "nodejs", "npm", "npx", "corepack", "bun", "bunx", "deno"]);
  for (const directory of (process.env.PATH ?? "").split(delimiter)) {
    for (const name of listFolder(directory)) {
      if (seen.has(name)) continue;
      seen.add(name);
      symlinkSync(join(directory, name), join(place, name));
    }
  }
  return place;
}

function listFolder(directory) {
  try {
    return directory.includes("node_modules") ? [] : readdirSync(directory);
  } catch {
    return [];
  }
}

function run(script, words, env = process.env) {
  return spawnSync(process.execPath, [script, ...words], { stdio: "inherit", env }).status ?? 1;
}

function mustRun(script, words) {
  const status = run(script, words);
  if (status !== 0) process.exit(status);
}
