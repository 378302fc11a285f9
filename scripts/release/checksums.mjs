import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const sumsFile = "SHA256SUMS";
/** What a signature of ours is for: one made for anything else does not pass. */
const signatureNamespace = "outrider-release";

/** Writes SHA256SUMS of the files in a folder, as sha256sum does. */
export function writeChecksums(folder) {
  const names = readdirSync(folder).filter((name) => !name.startsWith(sumsFile) && statSync(join(folder, name)).isFile());
  const lines = names.sort().map(
    (name) =>
      `${createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex")}  ${name}\n`,
  );
  writeFileSync(join(folder, sumsFile), lines.join(""));
}

/** Signs the checksums with an SSH key: SHA256SUMS.sig, which `ssh-keygen -Y verify` reads. */
export function signChecksums(folder, key) {
  const file = join(folder, sumsFile);
  rmSync(`${file}.sig`, { force: true });
  execFileSync("ssh-keygen", ["-Y", "sign", "-q", "-f", key, "-n", signatureNamespace, file], {
    stdio: ["inherit", "ignore", "inherit"],
  });
}
