// The Homebrew formula and the Nix flake of a release, with the checksums of its archives.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../bundle-options.mjs";

const templates = { "outrider.rb": "integrations/homebrew/outrider.rb.in", "flake.nix": "integrations/nix/flake.nix.in" };

/** `base` is where releases are: BASE/vVERSION/FILE. Throws when an archive that a file names was not made. */
export function writePackageFiles({ version, base, out }) {
  for (const [name, template] of Object.entries(templates)) {
    const text = readFileSync(join(root, template), "utf8");
    writeFileSync(join(out, name), fillTemplate(text, { version, base, sumOf: (platform) => sumOf({ version, platform, out }) }));
  }
}

export function fillTemplate(text, { version, base, sumOf }) {
  return text
    .replaceAll("@VERSION@", version)
    .replaceAll("@BASE@", base)
    .replaceAll("@HOMEPAGE@", new URL(base).origin)
    .replaceAll(/@SHA256:([\w-]+)@/g, (_, platform) => sumOf(platform));
}

function sumOf({ version, platform, out }) {
  const file = join(out, `outrider-${version}-${platform}.tar.gz`);
  if (!existsSync(file)) throw new Error(`The formula and the flake name ${platform}, which was not made`);
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
