// A package of the npm registry in the cache folder, where the hash is the one that is written down.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "../bundle-options.mjs";

const cache = join(root, ".cache/standalone");

/** Returns its folder. Downloads it once; no script of a package runs. */
export function fetchPackage({ name, version, integrity }) {
  const place = join(
    cache,
    `${name.replaceAll("/", "-")}-${version}-${createHash("sha256").update(integrity).digest("hex").slice(0, 12)}`,
  );
  if (existsSync(place)) return place;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "fetching-"));
  try {
    const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder, `${name}@${version}`];
    execFileSync("npm", words, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    const [file] = readdirSync(folder).filter((one) => one.endsWith(".tgz"));
    const archive = join(folder, file);
    const found = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
    if (found !== integrity) throw new Error(`${name}@${version} is not what is written down: ${found} instead of ${integrity}`);
    execFileSync("tar", ["-xzf", archive, "-C", folder]);
    rmSync(place, { recursive: true, force: true });
    renameSync(join(folder, "package"), place);
    return place;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
