// The folders that are packed for npm: the library and the fleet as they are, the command with its platform packages as optional dependencies, and these.
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../bundle-options.mjs";
import { platforms } from "../standalone/platforms.mjs";
import { standaloneNotices } from "./standalone-notices.mjs";

const cli = join(root, "packages/cli");
const scope = "@outrider/cli-";

/** Writes the folders and returns their paths. `binaries` is where the standalone commands are; the platforms without one have no package. */
export function writeNpmPackages({ out, binaries, names }) {
  rmSync(out, { recursive: true, force: true });
  const chosen = platforms.filter(({ name }) => names.includes(name));
  const { version } = readJson(join(cli, "package.json"));
  const own = chosen.map((platform) => writePlatformPackage({ platform, version, out, binaries }));
  return [join(root, "packages/runtime"), join(root, "packages/fleet"), writeCommand({ out, version, chosen }), ...own];
}

function writePlatformPackage({ platform, version, out, binaries }) {
  const { name, os, cpu, libc } = platform;
  const folder = join(out, `cli-${name}`);
  mkdirSync(join(folder, "bin"), { recursive: true });
  copyFileSync(join(binaries, `outrider-${name}`), join(folder, "bin/outrider"));
  chmodSync(join(folder, "bin/outrider"), 0o755);
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  writeFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), standaloneNotices());
  writeFileSync(
    join(folder, "README.md"),
    `# ${scope}${name}\n\nThe standalone command of [outrider](https://www.npmjs.com/package/outrider) for ${name}. Installed by it; there is no need to name it.\n`,
  );
  writeJson(join(folder, "package.json"), {
    name: `${scope}${name}`,
    version,
    description: `The standalone command of outrider for ${name}.`,
    license: "MIT",
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
    files: ["bin", "LICENSE", "README.md", "THIRD-PARTY-NOTICES.txt"],
    preferUnplugged: true, // a program cannot be started from inside an archive
  });
  return folder;
}

/** What is in git has no platform packages, which no registry has before the release. */
function writeCommand({ out, version, chosen }) {
  const folder = join(out, "outrider");
  cpSync(cli, folder, { recursive: true, filter: (path) => !/\/(src|node_modules)(\/|$)/.test(path.slice(cli.length)) });
  const { devDependencies: _, ...manifest } = readJson(join(cli, "package.json"));
  const added = Object.fromEntries(chosen.map(({ name }) => [`${scope}${name}`, version]));
  writeJson(join(folder, "package.json"), {
    ...manifest,
    bin: { outrider: "bin/outrider-sh" },
    optionalDependencies: { ...manifest.optionalDependencies, ...added },
  });
  return folder;
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
