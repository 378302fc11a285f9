import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import type { Mount } from "./bubblewrap-arguments.ts";
import { entryAt, isDirectory, namesIn, realPathOf } from "./host-files.ts";
import { isInside } from "../../util/is-inside.ts";

/** Homes, and places where other programs of the machine can be talked to: sockets work through read-only mounts too. */
const hiddenDirectories = [
  "/home",
  "/root",
  "/run",
  "/var/run",
  "/var/tmp",
  "/var/lib/docker",
  "/var/lib/containerd",
  "/var/lib/lxd",
  "/var/lib/incus",
  "/var/snap/lxd",
  "/etc/sudoers.d",
  "/etc/ssl/private",
];

const maskedFiles = ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers"];

/** Credentials and histories, for the case that a home must be seen because it is, or lies in, a place that may be written. */
const secretsOfHome = [
  ".ssh .aws .gnupg .kube .azure .docker .password-store .oci .outrider .claude .mozilla .terraform.d",
  ".config/gh .config/gcloud .config/op .config/git/credentials .config/google-chrome .config/chromium .config/rclone",
  ".local/share/keyrings .netrc .git-credentials .npmrc .yarnrc.yml .pypirc .pgpass .my.cnf .claude.json .vault-token",
  ".cargo/credentials .cargo/credentials.toml .m2/settings.xml .gem/credentials .bash_history .zsh_history",
].flatMap((line) => line.split(" "));

/** Programs people keep in their home, without the credentials that lie beside some of them. */
const toolchains = [
  ".nvm .fnm .volta .asdf .pyenv .rbenv .nodenv .goenv .jenv .sdkman .rustup .bun .deno go .linuxbrew miniconda3 anaconda3",
  ".cargo/bin .cargo/registry .cargo/git .m2/repository .npm-global .yarn/bin bin .local/bin .local/lib .local/pipx",
  ".local/share/mise .local/share/fnm .local/share/pnpm .local/share/uv .local/share/pipx .local/share/virtualenvs",
  ".cache/ms-playwright .cache/puppeteer .cache/node",
].flatMap((line) => line.split(" "));

const systemDirectories = ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/nix", "/opt", "/proc", "/sbin", "/sys", "/usr"];

export type HiddenPlaces = {
  /** The user's own; hidden like the others, but with the toolchains in it. */
  readonly home: string | undefined;
  /** Where Outrider keeps keys and sessions, when that is not below `home`. */
  readonly outriderHome: string | undefined;
  /** Real paths. What holds a hidden place whole opens it. */
  readonly writable: readonly string[];
  readonly searchPath: string;
};

/** What commands do not get to see. Real paths in, real paths out. */
export function hiddenMounts(places: HiddenPlaces): Mount[] {
  const isOpen = (path: string): boolean => places.writable.some((folder) => isInside(folder, path));
  const home = homeToHide(places.home);
  const directories = [...hiddenDirectories, home, places.outriderHome].flatMap((path) => {
    const real = path === undefined ? undefined : realPathOf(path);
    return real !== undefined && real !== "/" && isDirectory(real) && !isOpen(real) && isOpenToUs(real) ? [real] : [];
  });
  return [
    ...[...new Set(directories)].map((path): Mount => ({ type: "hide", path })),
    ...maskedFiles.filter((path) => entryAt(path) === "file" && isOpenToUs(path)).map((path): Mount => ({ type: "mask", path })),
    ...(home !== undefined && !isOpen(home) ? toolchainMounts(home, places.searchPath) : []),
  ];
}

/** What the user cannot open need not be hidden from their commands. Every mount costs time. */
function isOpenToUs(path: string): boolean {
  try {
    accessSync(path, isDirectory(path) ? constants.X_OK : constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Homes of anybody that commands may write to. */
export function openHomes({ home, writable }: Pick<HiddenPlaces, "home" | "writable">): string[] {
  const others = namesIn("/home").map((name) => join("/home", name));
  const homes = ["/root", ...(home === undefined ? [] : [home]), ...others].flatMap((path) => realPathOf(path) ?? []);
  return [...new Set(homes)].filter((path) => isDirectory(path) && writable.some((folder) => isInside(folder, path)));
}

/** Undefined for a home that cannot be hidden because the system lives there. */
function homeToHide(home: string | undefined): string | undefined {
  const real = home === undefined ? undefined : realPathOf(home);
  if (real === undefined || real === "/" || systemDirectories.some((folder) => isInside(folder, real))) return undefined;
  return real;
}

/** Stronger than the protection of the same paths against writing. */
export function secretMounts(home: string): Mount[] {
  return secretsOfHome.flatMap((name): Mount[] => {
    const path = realPathOf(join(home, name));
    if (path === undefined) return [];
    return [isDirectory(path) ? { type: "hide", path } : { type: "mask", path }];
  });
}

function toolchainMounts(home: string, searchPath: string): Mount[] {
  const named = toolchains.map((name) => join(home, name));
  const searched = searchPath.split(":").filter((path) => path !== home && isInside(home, path));
  const paths = [...new Set([...named, ...searched])].filter((path) => isDirectory(path) && realPathOf(path) === path);
  const outermost = paths.filter((path) => !paths.some((other) => other !== path && isInside(other, path)));
  return outermost.map((path) => ({ type: "read-only", path }));
}
