// Runs the end-to-end tests, and with them the built product, on other versions of Node, which come from the npm registry: all of them on the
// newest, and on those between it and the oldest, which `npm test` runs on, each file on one in turn; with `--all`, every file on every Node.
// `--again` gives files that failed a second try.
import { spawnSync } from "node:child_process";
import { join, relative } from "node:path";
import { root } from "./bundle-options.mjs";
import { between, installNode } from "./install-node.mjs";
import { listTests } from "./list-tests.mjs";

const newest = "26.10.0";
const onEach = ["test/startup.test.ts", "test/exports.test.ts"];

const args = process.argv.slice(2);
const runsAll = args.includes("--all");
const flags = args.filter((arg) => arg !== "--all");
const endToEnd = listTests(join(root, "test/e2e")).map((file) => relative(root, file));
for (const version of [...between, newest]) {
  const files = endToEnd.filter((_, index) => runsAll || version === newest || between[index % between.length] === version);
  console.log(`\nNode ${version}: ${files.length} of ${endToEnd.length} files`);
  const words = ["--no-build", "--node", installNode(version), ...onEach, ...files, ...flags];
  const { status } = spawnSync(process.execPath, [join(root, "scripts/test.mjs"), ...words], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
