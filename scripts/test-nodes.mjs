// Runs the end-to-end tests, and with them the built product, on other versions of Node, which come from the npm registry.
// `--again` gives files that failed a second try.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const versions = ["22.23.3", "24.21.0", "26.10.0"];

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const platform = `node-${process.platform}-${process.arch}`;
let failed = false;
for (const version of versions) {
  const node = install(version);
  console.log(`\nNode ${version}`);
  const { status } = spawnSync(
    process.execPath,
    [join(root, "scripts/test.mjs"), "--no-build", "--node", node, "e2e", "startup", "exports", ...process.argv.slice(2)],
    { stdio: "inherit" },
  );
  if (status !== 0) failed = true;
}
process.exitCode = failed ? 1 : 0;

function install(version) {
  const folder = join(root, ".cache/nodes", version);
  const node = join(folder, "node_modules", platform, "bin/node");
  if (existsSync(node)) return node;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  const { status } = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock", `${platform}@${version}`], {
    cwd: folder,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`Node ${version} could not be installed from the registry as ${platform}`);
  return node;
}
