// Archives and Debian packages of the standalone commands. Times and owners are fixed: the same content gives the same bytes.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "../bundle-options.mjs";

/** outrider-VERSION-PLATFORM.tar.gz with the command and its licences. */
export function writeArchive({ binary, platform, version, notices, epoch, out }) {
  inFolder((folder) => {
    const top = join(folder, `outrider-${version}`);
    mkdirSync(top);
    placeCommand({ binary, to: join(top, "outrider"), licences: top, notices });
    const words = ["--sort=name", `--mtime=@${epoch}`, "--owner=0", "--group=0", "--numeric-owner", "--mode=go-w", "-cf", "-"];
    const tar = execFileSync("tar", [...words, `outrider-${version}`], { cwd: folder, maxBuffer: 1 << 30 });
    writeFileSync(join(out, `outrider-${version}-${platform.name}.tar.gz`), gzipSync(tar, { level: 9 }));
  });
}

const debianNames = { x64: "amd64", arm64: "arm64" };

/** outrider_VERSION_ARCHITECTURE.deb, for the platforms of Debian. */
export function writeDebianPackage({ binary, platform, version, notices, epoch, out }) {
  if (platform.os !== "linux" || platform.libc !== "glibc") return;
  const architecture = debianNames[platform.cpu];
  inFolder((folder) => {
    const place = join(folder, "outrider");
    for (const made of ["DEBIAN", "usr/bin", "usr/share/doc/outrider"])
      mkdirSync(join(place, made), { recursive: true, mode: 0o755 });
    const documents = join(place, "usr/share/doc/outrider");
    placeCommand({ binary, to: join(place, "usr/bin/outrider"), licences: documents, notices });
    execFileSync("mv", [join(documents, "LICENSE"), join(documents, "copyright")]);
    writeFileSync(
      join(place, "DEBIAN/control"),
      [
        "Package: outrider",
        `Version: ${version.replace("-", "~")}`,
        `Architecture: ${architecture}`,
        "Maintainer: The Outrider contributors <outrider@localhost>",
        "Section: devel",
        "Priority: optional",
        "Depends: libc6",
        "Recommends: bubblewrap, git, ca-certificates",
        "Suggests: socat",
        "Description: agent command for scripts, CI and servers",
        " Runs LLM agents without anyone watching, with any model.",
        "",
      ].join("\n"),
    );
    execFileSync("chmod", ["-R", "u=rwX,go=rX", place]); // whatever the umask of whoever releases
    execFileSync(
      "dpkg-deb",
      ["--root-owner-group", "-Zxz", "--build", place, join(out, `outrider_${version}_${architecture}.deb`)],
      {
        stdio: ["ignore", "ignore", "inherit"],
        env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
      },
    );
  });
}

function placeCommand({ binary, to, licences, notices }) {
  copyFileSync(binary, to);
  chmodSync(to, 0o755);
  copyFileSync(join(root, "LICENSE"), join(licences, "LICENSE"));
  writeFileSync(join(licences, "THIRD-PARTY-NOTICES.txt"), notices);
}

function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "outrider-archive-"));
  try {
    work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
