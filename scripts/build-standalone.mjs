// Makes the command as one executable file per platform, with the runtime (Bun) and ripgrep inside: dist/standalone/outrider-PLATFORM.
// npm run build:standalone -- [PLATFORM…] [--no-build] [--out FOLDER]. Without a platform all are made; `own` is that of this machine.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { root } from "./bundle-options.mjs";
import { fetchPackage } from "./standalone/fetch-package.mjs";
import { fleetSource } from "./standalone/fleet-source.mjs";
import { forBun, linkSource } from "./standalone/link-source.mjs";
import { ownPlatform, platforms } from "./standalone/platforms.mjs";

const { values: flags, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { "no-build": { type: "boolean", default: false }, out: { type: "string", default: join(root, "dist/standalone") } },
});

await main();

async function main() {
  const own = ownPlatform();
  if (!own) return refuse("Bun, which makes the file, does not run on this machine");
  const names = wanted.map((name) => (name === "own" ? own.name : name));
  const unknown = names.filter((name) => !platforms.some((one) => one.name === name));
  if (unknown.length > 0) return refuse(`There is no platform ${unknown}. There are: ${platforms.map(({ name }) => name)}`);
  if (!flags["no-build"]) execFileSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });

  const out = resolve(flags.out);
  mkdirSync(out, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), "outrider-standalone-"));
  try {
    writeFileSync(join(folder, "fleet.gz"), gzipSync(forBun(await fleetSource()), { level: 9 }));
    for (const name of ["part-loader.mjs", "pipe-stream.mjs", "sorted-folders.mjs", "unpack-ripgrep.mjs", "load-fleet.mjs"])
      copyFileSync(join(root, "scripts/standalone", name), join(folder, name));
    const compiler = join(fetchPackage(own.bun), own.bun.program);
    for (const platform of platforms.filter(({ name }) => names.length === 0 || names.includes(name)))
      compile({ platform, compiler, folder, out });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function compile({ platform, compiler, folder, out }) {
  const ripgrep = readFileSync(join(fetchPackage(platform.ripgrep), platform.ripgrep.program));
  writeFileSync(join(folder, "rg.gz"), gzipSync(ripgrep, { level: 9 }));
  const hash = createHash("sha256").update(ripgrep).digest("hex");
  writeFileSync(join(folder, "outrider.js"), linkSource(join(root, "packages/cli/dist"), hash));
  const file = join(out, `outrider-${platform.name}`);
  const words = [
    "build",
    "--compile",
    `--target=${platform.target}`,
    `--compile-executable-path=${join(fetchPackage(platform.bun), platform.bun.program)}`,
    "--bytecode",
    "--format=cjs",
    "--compile-jit-policy=30", // part-loader.mjs takes it back
    "--minify-whitespace", // the build has minified it, and Bun would write it out at length
    // What lies in the folder that the command runs in must neither set variables nor load code.
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    "--no-compile-autoload-tsconfig",
    "--no-compile-autoload-package-json",
    "--asset-naming=[name].[ext]",
    "outrider.js",
    "--outfile=made",
  ];
  execFileSync(compiler, words, { cwd: folder, stdio: ["ignore", "ignore", "inherit"], env: compilerEnvironment(folder) });
  chmodSync(join(folder, "made"), 0o755);
  copyFileSync(join(folder, "made"), `${file}.new`);
  renameSync(`${file}.new`, file); // one that runs meanwhile keeps its own
  console.log(`${file} ${(statSync(file).size / 1e6).toFixed(1)} MB`);
}

/** Nothing of the user's: no settings of Bun, no proxies through which it could load anything. */
function compilerEnvironment(folder) {
  return { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, BUN_INSTALL: join(folder, "bun"), DO_NOT_TRACK: "1" };
}

function refuse(message) {
  console.error(message);
  process.exitCode = 64;
}
