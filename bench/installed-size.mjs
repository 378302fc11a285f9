import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const packages = ["packages/runtime", "packages/cli"];

/** What both published packages and everything they depend on take on disk; ripgrep, which is optional, is left out. */
export function measureInstalledSize({ targetMb = 15 } = {}) {
  const megabytes = (packedBytes() + dependencyBytes()) / 1e6;
  const ours = { median: megabytes, spread: 0, values: [megabytes] };
  return { name: "size", what: "installed size of both packages", unit: "MB", ours, target: targetMb, ok: megabytes <= targetMb };
}

/** npm's own word on what it would publish, unpacked. */
function packedBytes() {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts", ...packages.flatMap((folder) => ["--workspace", folder])];
  const stdout = execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return JSON.parse(stdout).reduce((sum, { unpackedSize }) => sum + unpackedSize, 0);
}

function dependencyBytes() {
  const folders = new Set();
  for (const folder of packages) addDependencies(join(root, folder), folders);
  return [...folders].reduce((sum, folder) => sum + folderBytes(folder), 0);
}

function addDependencies(folder, found) {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    const dependency = findPackage(name, folder);
    if (found.has(dependency)) continue;
    found.add(dependency);
    addDependencies(dependency, found);
  }
}

/** Where Node would find it; asked by folder, since a package need not export its package.json. */
function findPackage(name, from) {
  const places = createRequire(join(from, "package.json")).resolve.paths(name) ?? [];
  const folder = places.map((place) => join(place, name)).find((place) => statSync(place, { throwIfNoEntry: false }));
  if (!folder) throw new Error(`${name} is not installed: run npm install`);
  return folder;
}

function folderBytes(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size, 0);
}
