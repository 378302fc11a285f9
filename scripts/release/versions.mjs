import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const packages = ["packages/runtime", "packages/cli", "packages/web", "packages/fleet"];
const own = ["outrider", "@outrider/runtime", "@outrider/web", "@outrider/fleet"];
/** Where people are told which version to install, and files that install it. */
const mentions = [
  "integrations/github-action/action.yml",
  "integrations/harbor/README.md",
  "integrations/harbor/pyproject.toml",
  "integrations/harbor/agent.json",
  "integrations/devcontainer/outrider/devcontainer-feature.json",
  "integrations/fleet/compose.yaml",
  "integrations/fleet/Dockerfile",
  "integrations/fleet/kubernetes/workers.yaml",
  "docs/ci.md",
  "docs/fleet-operations.md",
  "docs/server.md",
];

/** Writes one version wherever ours is written; returns the files. */
export function setVersion(root, version) {
  const { version: before } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
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
  const others = mentions.map((place) => join(root, place));
  for (const file of others) writeFileSync(file, mention(readFileSync(file, "utf8"), before, version));
  return [...manifests, lock, ...others];
}

/** The version where it is ours: `outrider@1.2.3`, `OUTRIDER_VERSION: 1.2.3`, `outrider-fleet:1.2.3`, a manifest's own, a default. */
function mention(text, before, version) {
  const ours = /(outrider(?:-fleet)?[@:-]|OUTRIDER_VERSION(?:=|: )|\bversion ?= ?"?|"(?:version|default)": "|^ {4}default: )/;
  const old = before.replaceAll(".", "\\.");
  return text.replace(new RegExp(`${ours.source}${old}(?![\\w.]*\\d)`, "gm"), `$1${version}`);
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
