import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const packages = ["packages/runtime", "packages/cli", "packages/web"];
const own = ["outrider", "@outrider/runtime", "@outrider/web"];

/** Writes one version wherever ours is written; returns the files. */
export function setVersion(root, version) {
  const manifests = packages.map((place) => join(root, place, "package.json"));
  for (const file of manifests) change(file, (manifest) => pin({ ...manifest, version }, version));
  const lock = join(root, "package-lock.json");
  change(lock, (content) => ({
    ...content,
    packages: Object.fromEntries(
      Object.entries(content.packages).map(([place, entry]) => [
        place,
        packages.includes(place) ? pin({ ...entry, version }, version) : entry,
      ]),
    ),
  }));
  const action = join(root, "integrations/github-action/action.yml");
  const text = readFileSync(action, "utf8");
  writeFileSync(action, text.replace(/(\n {2}version:\n {4}description: .*\n {4}default: ).*/, `$1${version}`));
  return [...manifests, lock, action];
}

/** Packages of this repository depend on each other by exact version. */
function pin(entry, version) {
  const kinds = ["dependencies", "devDependencies", "optionalDependencies"].filter((kind) => entry[kind]);
  const pinned = kinds.map((kind) => [
    kind,
    Object.fromEntries(Object.entries(entry[kind]).map(([name, wanted]) => [name, own.includes(name) ? version : wanted])),
  ]);
  return { ...entry, ...Object.fromEntries(pinned) };
}

function change(file, edit) {
  writeFileSync(file, `${JSON.stringify(edit(JSON.parse(readFileSync(file, "utf8"))), null, 2)}\n`);
}
