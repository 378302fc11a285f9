import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./bundle-options.mjs";

/** Nodes between the oldest that is supported and the newest. */
export const between = ["22.23.3", "24.21.0"];

/** Another version of Node, from the npm registry; answers its path. */
export function installNode(version) {
  const platform = `node-${process.platform}-${process.arch}`;
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
