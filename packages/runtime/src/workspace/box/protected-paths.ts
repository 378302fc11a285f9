import { dirname, join } from "node:path";
import type { Mount } from "./bubblewrap-arguments.ts";
import {
  configuredPaths,
  decidingNames,
  isGitDirectory,
  repositoryOfWorktree,
  submoduleDirectories,
  worktreeDirectories,
} from "./git-directory.ts";
import { entryAt, linkTarget, namesIn, realPathOf } from "./host-files.ts";
import { isInside } from "../../util/is-inside.ts";

/**
 * What no mount can hold, because there is nothing to mount on, or only a link: looked at while the command runs and after it.
 * A placeholder to mount on would have to be made on the host, where it outlives an agent that is killed.
 */
export type Watched =
  | { readonly type: "missing"; readonly path: string }
  | { readonly type: "link"; readonly path: string; readonly target: string }
  /** New names in `path`, which may be missing itself. */
  | { readonly type: "names"; readonly path: string; readonly names: RegExp; readonly known: ReadonlySet<string> }
  /** There is no repository at `path` yet. One may be made; what it runs is taken out of it afterwards. */
  | { readonly type: "repository"; readonly path: string };

export type Protection = { readonly mounts: Mount[]; readonly watched: Watched[] };

export type ProtectionSetting = {
  /** Real paths of directories commands may write to. */
  readonly writable: readonly string[];
  readonly homes: readonly string[];
  /** Being made right now by a command that runs beside this one: nothing there can be trusted to stay what it is. */
  readonly contested: ReadonlySet<string>;
};

const startUpFiles = [
  ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_env .profile .zshrc .zshenv .zprofile .zlogin .zlogout",
  ".kshrc .cshrc .tcshrc .login .inputrc .envrc .gitconfig .ripgreprc .mcp.json .claude.json",
].flatMap((line) => line.split(" "));

const startUpOfHome = [
  ".config/fish .config/git .config/autostart .config/systemd .config/environment.d .local/bin .pam_environment .xprofile .xinitrc",
  ".xsessionrc .vimrc .exrc .screenrc .tmux.conf .emacs .lesskey .wgetrc .curlrc .npmrc .yarnrc .pip .gdbinit",
].flatMap((line) => line.split(" "));

/** Of our own folders: what may be written by agents, and which new names decide what agents may do. */
const agentSettings = "settings|hooks|skills|commands|agents|plugins|mcp|rules|output-styles|config|permissions|trust";
const ownFolders = [
  { name: ".outrider", open: ["worktrees", "tasks", "plans", "tmp"], deciding: new RegExp(`^(?:${agentSettings}|memory)`, "i") },
  { name: ".claude", open: ["worktrees", "tasks", "memory", "plans", "tmp"], deciding: new RegExp(`^(?:${agentSettings})`, "i") },
];
const otherAgents = [".agent", ".agents", ".codex", ".gemini", ".cursor", ".opencode"];
const decidingInOtherAgents = /^(?:settings|hooks|config|mcp)/i;

/** What stays as it is although it lies where commands may write: everything that decides what runs outside the box. */
export function protectPaths(setting: ProtectionSetting): Protection {
  const protection: Protection = { mounts: [], watched: [] };
  const keep = (path: string): void => keepAsIs(path, setting, protection);
  for (const folder of setting.writable) {
    for (const name of startUpFiles) keep(join(folder, name));
    for (const own of ownFolders) keepOwnFolder({ ...own, path: join(folder, own.name) }, setting, protection);
    for (const name of otherAgents) keepNames(join(folder, name), decidingInOtherAgents, setting, protection);
    if (isGitDirectory(folder)) keepGitDirectory({ path: folder, worktree: dirname(folder) }, setting, protection);
    else keepRepository(folder, setting, protection);
  }
  for (const home of setting.homes) for (const name of [...startUpFiles, ...startUpOfHome]) keep(join(home, name));
  return protection;
}

function keepAsIs(path: string, setting: ProtectionSetting, protection: Protection): void {
  const entry = entryAt(path);
  if (entry === "missing" || setting.contested.has(path)) protection.watched.push({ type: "missing", path });
  else if (entry === "link") keepLink(path, setting, protection);
  else if (!holdsWritable(path, setting)) protection.mounts.push({ type: "read-only", path });
}

/** The link cannot be mounted on, so it is watched; what it leads to can. */
function keepLink(path: string, setting: ProtectionSetting, protection: Protection): void {
  protection.watched.push({ type: "link", path, target: linkTarget(path) ?? "" });
  const real = realPathOf(path);
  if (real === undefined || !isWritable(real, setting) || holdsWritable(real, setting)) return;
  protection.mounts.push({ type: "read-only", path: real });
}

type OwnFolder = { readonly path: string; readonly open: readonly string[]; readonly deciding: RegExp };

function keepOwnFolder({ path, open, deciding }: OwnFolder, setting: ProtectionSetting, protection: Protection): void {
  if (entryAt(path) !== "directory" || setting.contested.has(path)) return keepNames(path, deciding, setting, protection);
  protection.mounts.push({ type: "read-only", path });
  for (const name of open) {
    if (entryAt(join(path, name)) === "directory") protection.mounts.push({ type: "writable", path: join(path, name) });
  }
}

/** Only some names in a folder decide anything; the folder itself must not be swapped for another. */
function keepNames(path: string, names: RegExp, setting: ProtectionSetting, protection: Protection): void {
  const entry = entryAt(path);
  if (entry === "link") return keepLink(path, setting, protection);
  if (entry === "file") return void protection.mounts.push({ type: "read-only", path });
  if (entry === "missing" || setting.contested.has(path)) {
    return void protection.watched.push({ type: "names", path, names, known: new Set() });
  }
  const known = namesIn(path).filter((name) => names.test(name));
  protection.mounts.push({ type: "writable", path });
  for (const name of known) keepAsIs(join(path, name), setting, protection);
  protection.watched.push({ type: "names", path, names, known: new Set(known) });
}

function keepRepository(folder: string, setting: ProtectionSetting, protection: Protection): void {
  const path = join(folder, ".git");
  const entry = entryAt(path);
  if (entry === "missing" || setting.contested.has(path)) {
    protection.watched.push({ type: "repository", path });
    return;
  }
  if (entry === "directory") return keepGitDirectory({ path, worktree: folder }, setting, protection);
  keepAsIs(path, setting, protection);
  const target = entry === "link" ? realPathOf(path) : undefined;
  if (target !== undefined && isWritable(target, setting))
    keepGitDirectory({ path: target, worktree: folder }, setting, protection);
  const repository = entry === "file" ? repositoryOfWorktree(folder) : undefined;
  if (repository !== undefined) keepGitDirectory({ path: repository, worktree: folder }, setting, protection);
}

/** git must go on working in it. Mounted on itself, it can be neither moved nor replaced. */
function keepGitDirectory(
  { path, worktree }: { path: string; worktree: string },
  setting: ProtectionSetting,
  protection: Protection,
): void {
  for (const directory of [path, ...submoduleDirectories(path)]) {
    protection.mounts.push({ type: "writable", path: directory });
    for (const name of decidingNames) keepAsIs(join(directory, name), setting, protection);
  }
  for (const directory of worktreeDirectories(path)) {
    protection.mounts.push({ type: "writable", path: directory });
    for (const name of ["commondir", "gitdir", "config.worktree"]) keepAsIs(join(directory, name), setting, protection);
  }
  for (const configured of configuredPaths(path, worktree)) {
    const real = realPathOf(dirname(configured));
    if (real !== undefined && isWritable(real, setting)) keepAsIs(configured, setting, protection);
  }
}

function isWritable(path: string, { writable }: ProtectionSetting): boolean {
  return writable.some((folder) => isInside(folder, path));
}

/** A link or setting that leads to the workspace itself would close all of it. */
function holdsWritable(path: string, { writable }: ProtectionSetting): boolean {
  return writable.some((folder) => isInside(path, folder));
}
