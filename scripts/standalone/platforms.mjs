// The platforms of the standalone command, and the packages of the npm registry that it is made of. Another version is another set of
// hashes: `npm view NAME@VERSION dist.integrity` tells them.

const bunVersion = "1.4.4";
const ripgrepVersion = "1.18.0";

const ripgrep = {
  "linux-x64": "sha512-mQ3bVrUpnD2vs7QT0vX90Lt0cnUq467uFtEktIdsJJmW296RoSULRGqWgzG1AKxyBpNDD6l4ZO4qKf6SgyC23Q==",
  "linux-arm64": "sha512-lQ/5zTG++U0E3IhVgS4EPTTn/U4okncaRMM5GOFfOYZywS4nuD31GhkHbNYlDk5CuDC68+hYJ0/eQeyCKJDA+g==",
  "darwin-x64": "sha512-25b4gWbL138dGuQU244ebCKKc0q05ULBMoFSz9oAEUHNeqK/lOJViDS7DRvbDazzAzSEdan391Znks/R5mkaTQ==",
  "darwin-arm64": "sha512-r3ktHSvbFycQNF6sl7sNDPocpsI7J+mEzh1IaZFkY0spm3k2Z9t8hPAeOK7+p0l6p6/swkQC14XWX01low+94Q==",
};

const bun = {
  "linux-x64": "sha512-CHbbkmHVM28T1GFq+6GL4Ao4ujwwYwj1CxFFwEFzLanPfNsId9AhbIP0Q4reWuWBkGimUkoQygrK7Rgjtj3vog==",
  "linux-aarch64": "sha512-ZTVtpf9zmHSBVPX1sBwe5agGb/rN34yPGg/Hby8e2Ax2uCUA2URZKlZH7qLntK7qaFJCMXh9v0GWNYN2zINz1w==",
  "linux-x64-musl": "sha512-lEEjNOJJrbGZu2NVcPI4uXdILcpspezWkA8R/Jr0RCGhM6zQd0Y7JBIIKNAmbX59EeWpeEz7Q78iLbpcAUypUA==",
  "linux-aarch64-musl": "sha512-QFd0P+mHJxbZFbUla4MgiE5OwxysHaUIYxL2pPNkpWtaI7v4ShOpr8OhBmsuyB0xn5rv/ZJnPsj2y8+bB9+g/A==",
  "darwin-x64": "sha512-oKGcxLsvh4oHjAo28nPm8c/xN0o/OmGyj1IHYc94vprkWsW2hNg2keEZt5f40cI5Hvu4jDlSRTR0UNpv1UIAxw==",
  "darwin-aarch64": "sha512-zW/hxwc8sJAILGwB5eTC4i48ouGXf0V4lrxmEOk3JIE6JkYVW1TZh1E2pIempqsezgW1sckTIIDudFON8bJ2Mw==",
};

/** `name` is ours, and npm's words for system, processor and C library. ripgrep is linked statically: one serves both C libraries. */
export const platforms = [
  platform({ os: "linux", cpu: "x64", libc: "glibc" }),
  platform({ os: "linux", cpu: "arm64", libc: "glibc" }),
  platform({ os: "linux", cpu: "x64", libc: "musl" }),
  platform({ os: "linux", cpu: "arm64", libc: "musl" }),
  platform({ os: "darwin", cpu: "x64" }),
  platform({ os: "darwin", cpu: "arm64" }),
];

function platform({ os, cpu, libc }) {
  const suffix = libc === "musl" ? "-musl" : "";
  const bunName = `${os}-${cpu === "arm64" ? "aarch64" : cpu}${suffix}`;
  return {
    name: `${os}-${cpu}${suffix}`,
    os,
    cpu,
    libc,
    target: `bun-${os}-${cpu}${suffix}`,
    bun: { name: `@oven/bun-${bunName}`, version: bunVersion, integrity: bun[bunName], program: "bin/bun" },
    ripgrep: {
      name: `@vscode/ripgrep-${os}-${cpu}`,
      version: ripgrepVersion,
      integrity: ripgrep[`${os}-${cpu}`],
      program: "bin/rg",
    },
  };
}

/** The platform that this process runs on; undefined where there is no standalone command for it. */
export function ownPlatform() {
  const libc = process.platform === "linux" ? (usesGlibc() ? "glibc" : "musl") : undefined;
  return platforms.find(({ os, cpu, libc: its }) => os === process.platform && cpu === process.arch && its === libc);
}

function usesGlibc() {
  return process.report.getReport().header.glibcVersionRuntime !== undefined;
}
