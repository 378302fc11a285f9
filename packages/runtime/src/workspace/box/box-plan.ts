import { dirname, join, resolve } from "node:path";
import { RuntimeError } from "../../protocol/errors.ts";
import { isInside } from "../../util/is-inside.ts";
import type { Mount } from "./bubblewrap-arguments.ts";
import { repositoryOfWorktree } from "./git-directory.ts";
import { openHomes, secretMounts } from "./hidden-paths.ts";
import { isDirectory, realPathOf } from "./host-files.ts";
import { protectPaths, type Watched } from "./protected-paths.ts";

export type BoxPlaces = {
  /** Real path of the workspace. */
  readonly root: string;
  readonly home: string | undefined;
  /** From `hiddenMounts`: looked for once, homes and toolchains stay where they are. */
  readonly hidden: readonly Mount[];
  readonly allowWrite: readonly string[];
  readonly denyRead: readonly string[];
  readonly denyWrite: readonly string[];
  /** Saved outputs: commands may read them. */
  readonly overflowDirectory: string;
  /** What commands see as /tmp. */
  readonly temporary: string;
  /** A git configuration with nothing but the user's name; stands in for the real one in a hidden home. */
  readonly identity: string | undefined;
  /** Single files this command may write. */
  readonly writes: readonly string[];
  readonly sharesNetwork: boolean;
  readonly proxyDirectory: string | undefined;
  readonly contested: ReadonlySet<string>;
};

export type BoxPlan = { readonly mounts: Mount[]; readonly watched: Watched[] };

/** Where the socket of the proxy is found inside. */
export const proxyMount = "/run/outrider";

/** Looks at the host and decides what a box shows of it. Called for every command: files come and go. */
export function planBox(places: BoxPlaces): BoxPlan {
  const writable = writableDirectories(places);
  const homes = openHomes({ home: places.home, writable });
  const { mounts, watched } = protectPaths({ writable, homes, contested: places.contested });
  return {
    watched,
    // Later ones take the place of earlier ones with the same path.
    mounts: oncePerPath([
      ...places.hidden,
      ...systemMounts(places),
      ...identityMount(places),
      { type: "writable", path: "/tmp", source: places.temporary },
      ...existing([places.overflowDirectory]).map((path): Mount => ({ type: "read-only", path })),
      { type: "writable", path: places.temporary },
      ...writable.map((path): Mount => ({ type: "writable", path })),
      ...kept(places, writable),
      ...mounts,
      ...homes.flatMap(secretMounts),
      ...places.writes.flatMap((path) => realPathOf(path) ?? []).map((path): Mount => ({ type: "writable", path })),
      ...denied(places),
    ]),
  };
}

/** Would they make the same box, watched in the same way? */
export function isSamePlan(one: BoxPlan, other: BoxPlan): boolean {
  return keyOf(one) === keyOf(other);
}

const keys = new WeakMap<BoxPlan, string>();

function keyOf(plan: BoxPlan): string {
  const key =
    keys.get(plan) ?? JSON.stringify(plan, (_, value) => (value instanceof Set || value instanceof RegExp ? text(value) : value));
  keys.set(plan, key);
  return key;
}

function text(value: ReadonlySet<unknown> | RegExp): string {
  return value instanceof RegExp ? String(value) : [...value].join("/");
}

/** Where commands may write, as real paths: a link given as workspace or in a list stands for what it leads to. */
export function writableDirectories({ root, home, allowWrite }: Pick<BoxPlaces, "root" | "home" | "allowWrite">): string[] {
  const paths = [root, ...existing(allowWrite.map((path) => expand(path, { root, home })))];
  if (paths.includes("/")) {
    throw new RuntimeError("config", "The sandbox cannot be used with the whole machine (/) writable.", {
      hint: "Start in a project directory, or name the directories that may be written",
    });
  }
  const repository = repositoryOfWorktree(root);
  return [...new Set(repository === undefined ? paths : [...paths, repository])];
}

function existing(paths: readonly string[]): string[] {
  return paths.flatMap((path) => realPathOf(path) ?? []);
}

function expand(path: string, { root, home }: { root: string; home: string | undefined }): string {
  if (home !== undefined && (path === "~" || path.startsWith("~/"))) return join(home, path.slice(1));
  return resolve(root, path);
}

/** Of the hidden /run: what name resolution and whole distributions need. */
function systemMounts({ sharesNetwork, proxyDirectory }: BoxPlaces): Mount[] {
  const resolver = sharesNetwork ? realPathOf("/etc/resolv.conf") : undefined;
  const mounts: Mount[] = existing(["/run/current-system", "/run/opengl-driver"])
    .filter((path) => path.startsWith("/run/"))
    .map((path) => ({ type: "read-only", path }));
  if (resolver?.startsWith("/run/")) mounts.push({ type: "read-only", path: resolver });
  if (proxyDirectory !== undefined) mounts.push({ type: "read-only", path: proxyMount, source: proxyDirectory });
  return mounts;
}

function identityMount({ home, identity, hidden }: BoxPlaces): Mount[] {
  const real = home === undefined ? undefined : realPathOf(home);
  const isHidden = hidden.some(({ type, path }) => type === "hide" && path === real);
  return real !== undefined && isHidden && identity !== undefined
    ? [{ type: "read-only", path: join(real, ".gitconfig"), source: identity }]
    : [];
}

/** Only below what may be written: elsewhere nothing can be, and a mount there could show again what is hidden. */
function kept(places: BoxPlaces, writable: readonly string[]): Mount[] {
  const paths = existing(places.denyWrite.map((path) => expand(path, places)));
  return paths.flatMap((path) => {
    const folder = writable.find((one) => isInside(one, path));
    return folder === undefined ? [] : [...around(path, folder), { type: "read-only", path }];
  });
}

/** Mounted on themselves, the folders between can be neither moved away nor replaced. */
function around(path: string, folder: string): Mount[] {
  const parent = dirname(path);
  return path === folder || parent === folder ? [] : [...around(parent, folder), { type: "writable", path: parent }];
}

function denied(places: BoxPlaces): Mount[] {
  const paths = existing(places.denyRead.map((path) => expand(path, places)));
  return paths.map((path) => (isDirectory(path) ? { type: "hide", path } : { type: "mask", path }));
}

function oncePerPath(mounts: readonly Mount[]): Mount[] {
  return [...new Map(mounts.map((mount) => [mount.path, mount])).values()];
}
