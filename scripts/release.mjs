// Makes a release from a clean tree: versions, changelog, tarballs, standalone commands, archives, Debian packages, SBOM, checksums and their
// signature, notes; then a commit and a tag. Nothing is published: docs/releasing.md says how. --dry-run leaves the tree as it was.
// --from-tag makes the files of a version that is tagged already.
// npm run release -- --version X [--key FILE] [--base-url URL] [--platform NAME…] [--out FOLDER] [--dry-run|--from-tag]
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./bundle-options.mjs";
import { writeArchive, writeDebianPackage } from "./release/archives.mjs";
import { cutChangelog, sectionOf } from "./release/changelog.mjs";
import { signChecksums, writeChecksums } from "./release/checksums.mjs";
import { writeNpmPackages } from "./release/npm-packages.mjs";
import { toSbom } from "./release/sbom.mjs";
import { writePackageFiles } from "./release/package-files.mjs";
import { namesInNotices, standaloneNotices } from "./release/standalone-notices.mjs";
import { setVersion } from "./release/versions.mjs";
import { platforms } from "./standalone/platforms.mjs";

const { values: flags } = parseArgs({
  options: {
    version: { type: "string" },
    key: { type: "string" },
    "base-url": { type: "string" },
    platform: { type: "string", multiple: true, default: platforms.map(({ name }) => name) },
    out: { type: "string", default: join(root, "dist/release") },
    "dry-run": { type: "boolean", default: false },
    "from-tag": { type: "boolean", default: false },
  },
});

const changelog = join(root, "CHANGELOG.md");

main();

function main() {
  const { version, key } = flags;
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$/.test(version ?? "")) return refuse("--version X.Y.Z is needed");
  const unknown = flags.platform.filter((name) => !platforms.some((one) => one.name === name));
  if (unknown.length > 0) return refuse(`There is no platform ${unknown}`);
  if (!flags["dry-run"] && !key) return refuse("--key FILE is needed: the SSH key that signs the checksums");
  if (git("status", "--porcelain") !== "") return refuse("The tree has changes that are not committed");
  const isTagged = git("tag", "--list", `v${version}`) !== "";
  if (isTagged !== flags["from-tag"])
    return refuse(`There is ${isTagged ? "a" : "no"} tag v${version}${isTagged ? " already" : ""}`);

  const epoch = Number(git("log", "-1", "--format=%ct")); // the time of what is released, not of this run
  const at = new Date(epoch * 1000).toISOString();
  const out = resolve(flags.out);
  const changed = [];
  process.on("SIGINT", () => {}); // Ctrl-C ends the program that runs, which fails this, and the tree is put back
  try {
    const section = flags["from-tag"] ? sectionOf(readFileSync(changelog, "utf8"), version) : bump({ version, at, changed });
    makeFiles({ version, epoch, at, out });
    writeFileSync(join(out, "release-notes.md"), releaseNotes({ version, section }));
    if (flags["base-url"]) writePackageFiles({ version, base: flags["base-url"], out });
    writeChecksums(out);
    if (key) signChecksums(out, resolve(key));
    if (!flags["dry-run"] && !flags["from-tag"]) commit({ version, changed });
    console.log(`\n${out}\n${readFileSync(join(out, "SHA256SUMS"), "utf8")}`);
  } catch (error) {
    restore(changed);
    throw error;
  }
  if (flags["dry-run"]) restore(changed);
}

/** Writes the version and the changelog into the tree, names the files in `changed`, and returns what is new. */
function bump({ version, at, changed }) {
  const cut = cutChangelog(readFileSync(changelog, "utf8"), { version, date: at.slice(0, 10) });
  changed.push(changelog, ...setVersion(root, version));
  writeFileSync(changelog, cut.changelog);
  return cut.section;
}

function makeFiles({ version, epoch, at, out }) {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  run(process.execPath, [join(root, "scripts/build.mjs")]);
  const binaries = join(root, "dist/release-standalone");
  run(process.execPath, [join(root, "scripts/build-standalone.mjs"), "--no-build", "--out", binaries, ...flags.platform]);

  const folders = writeNpmPackages({ out: join(root, "dist/npm"), binaries, names: flags.platform });
  for (const folder of folders) run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", out], folder);

  const notices = standaloneNotices();
  for (const platform of platforms.filter(({ name }) => flags.platform.includes(name))) {
    const binary = join(binaries, `outrider-${platform.name}`);
    const made = { binary, platform, version, notices, epoch, out };
    writeArchive(made);
    writeDebianPackage(made);
  }
  const sbom = toSbom({ name: "outrider", version, components: namesInNotices(notices), at });
  writeFileSync(join(out, `outrider-${version}.cdx.json`), `${JSON.stringify(sbom, null, 2)}\n`);
  cpSync(join(root, "integrations/install/install.sh"), join(out, "install.sh"));
}

function releaseNotes({ version, section }) {
  const matrix = readFileSync(join(root, "docs/versioning.md"), "utf8").match(
    /## Journals of earlier versions\n+([\s\S]*?)(?=\n## |$)/,
  )?.[1];
  return [
    `# Outrider ${version}`,
    section,
    `## Upgrading\n\n${(matrix ?? "").trim()}`,
    `## Checking what you downloaded\n\n    sha256sum --check --ignore-missing SHA256SUMS\n    ssh-keygen -Y verify -f allowed_signers -I outrider -n outrider-release -s SHA256SUMS.sig < SHA256SUMS\n`,
  ].join("\n\n");
}

function commit({ version, changed }) {
  git("add", ...changed);
  git("commit", "-m", `Release ${version}`);
  git("tag", "-m", `Outrider ${version}`, `v${version}`);
}

function restore(changed) {
  if (changed.length > 0) git("checkout", "--", ...changed.map((file) => relative(root, file)));
}

function git(...words) {
  return execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
}

function run(program, words, cwd = root) {
  execFileSync(program, words, { cwd, stdio: ["ignore", "ignore", "inherit"] });
}

function refuse(message) {
  console.error(message);
  process.exitCode = 64;
}
