import { basename, join } from "node:path";
import type { RuleBase } from "./rules.ts";
import { isInside } from "../util/is-inside.ts";

/** Where the work is done: the root, and the directories that were named beside it. */
export type Ground = RuleBase & { readonly directories?: readonly string[] | undefined };

/** Why a file is not touched on the strength of a general rule or mode. */
export type Guard = { readonly effect: "deny" | "ask"; readonly reason: string };

/** A folder that holds everything, or the home directory, is no folder beside the project. */
export function isBeside(folder: string, { home }: RuleBase): boolean {
  return folder !== "/" && !(home !== undefined && isInside(folder, home));
}

/** The folders in which a mode says what may be done. */
export function workFolders({ directories = [], ...base }: Ground): string[] {
  return [base.root, ...directories.filter((folder) => isBeside(folder, base))];
}

/** Harmless to read and write: they keep nothing and tell nothing. */
export function isHarmlessDevice(path: string): boolean {
  return /^\/dev\/(?:null|stdin|stdout|stderr|tty|fd\/\d+)$/.test(path);
}

/** Tells what machine and system this is, and nothing about who uses it. */
export function isMachineFact(path: string): boolean {
  return /^(?:\/etc|\/usr\/lib)\/(?:os-release|lsb-release|(?:alpine|redhat|fedora|centos|debian|system)[-_](?:release|version)|timezone|shells)$|^\/proc\/(?:cpuinfo|meminfo|version|loadavg|uptime|stat|vmstat|filesystems|partitions|swaps|diskstats)$/.test(
    path,
  );
}

/** Folders of the system whose entries are no secret, and programs in them; what is in other entries may be one. */
export function isOpenFolder(path: string): boolean {
  return /^\/(?:(?:private\/)?tmp|opt|s?bin|usr(?:\/local)?(?:\/(?:s?bin|lib))?)?$|^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/.test(
    path,
  );
}

/**
 * The form in which forbidden names are compared: what some file system takes for the same name is the same.
 * Letter case, Unicode forms, invisible characters, trailing dots and spaces, data streams, and the short name of `.git`.
 */
export function foldPath(path: string): string {
  const known = foldedPaths.get(path);
  if (known !== undefined) return known;
  const folded = fold(path);
  if (foldedPaths.size > 1_000) foldedPaths.clear();
  foldedPaths.set(path, folded);
  return folded;
}

const foldedPaths = new Map<string, string>();

function fold(path: string): string {
  const folded = path
    .normalize("NFC")
    .replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .toLowerCase()
    .normalize("NFC");
  return folded
    .split(/[/\\]/)
    .map((name) =>
      /^\.{1,2}$/.test(name)
        ? name
        : name
            .replace(/:.*$/, "")
            .replace(/[. ]+$/, "")
            .replace(/^git~\d+$/, ".git"),
    )
    .join("/");
}

/**
 * Files that only a rule written for them opens, whatever else is allowed. Bypassing permissions bypasses this too.
 * The path may be a pattern of the shell.
 */
export function guardOf(path: string, kind: "look" | "edit", ground: Ground): Guard | undefined {
  const folded = foldPath(path);
  return kind === "look" ? guardReading(folded, ground) : guardEditing(folded, ground);
}

/** Never to be read, in any mode, without a rule that names it. */
export function isSecretOfProcess(path: string): boolean {
  const folded = foldPath(path);
  const names = folded.split("/");
  const last = basename(folded);
  return names[1] === "proc" && names.length > 3 && ["environ", "mem", "auxv"].some((secret) => overlaps(last, secret));
}

/** Names that Windows takes for devices, wherever they stand. */
export function isReservedName(path: string, base: RuleBase): boolean {
  return (
    base.platform === "win32" && /^(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:\..*)?$/.test(foldPath(basename(path)))
  );
}

/** What belongs to running agents and may be edited like any other file. */
const openAgentFolders = new Set(["worktrees", "tasks", "plans", "tmp"]);
const agentFolders = new Set(
  ".agent .agents .codex .gemini .cursor .opencode .windsurf .cline .roo .kiro .continue .amazonq".split(" "),
);
/** What in them tells an agent what to do, or what to run. */
const agentSettings =
  /^(?:settings|hooks|config|mcp|rules|commands?$|agents?$|modes?$|plugins?$|tools?$|skills?$|steering|prompts|workflows|opencode\.)/;
const toolFolders = new Set([".husky", ".githooks", ".vscode", ".idea", ".devcontainer", ".zed"]);
/** Parts of folders from which tools take programs to run. */
const toolParts: Readonly<Record<string, RegExp>> = {
  ".config": /^(?:git|fish|gh|gcloud|autostart|systemd|environment\.d|nvim|mise)$/,
  ".cargo": /^(?:config|config\.toml|credentials.*|bin)$/,
  ".bundle": /^(?:config|plugin)$/,
  ".yarn": /^(?:plugins|releases|sdks)$/,
};
const startUpFiles = new Set([
  ...["bash", "zsh", "ksh", "csh", "tcsh", "ash"].flatMap((shell) =>
    ["rc", "env", "_profile", "_login", "_logout", "_aliases"].map((file) => `.${shell}${file}`),
  ),
  ...[".profile", ".zprofile", ".zlogin", ".zlogout", ".login", ".inputrc", ".envrc", ".gitconfig", ".gitmodules", ".npmrc"],
  ...[".yarnrc", ".yarnrc.yml", ".pypirc", ".netrc", ".ripgreprc", ".vimrc", ".exrc", ".mcp.json", ".claude.json"],
  ...[".cursorrules", ".windsurfrules", ".clinerules", ".aider.conf.yml", "opencode.json", "opencode.jsonc"],
  ...[".pnpmfile.cjs", ".tmux.conf", ".screenrc", ".irbrc", ".pryrc", ".gemrc", ".pdbrc", ".pdbrc.py", ".gdbinit", ".lldbinit"],
  ...[".curlrc", ".wgetrc", ".mise.toml", "mise.toml", ".rprofile", ".nvimrc", ".nvim.lua", ".psqlrc", ".sqliterc", ".my.cnf"],
  ...[".condarc", ".bazelrc", ".lesskey", ".dir-locals.el", "sitecustomize.py", "usercustomize.py"],
]);
const secretFolders = new Set([
  ".ssh",
  ".aws",
  ".gnupg",
  ".kube",
  ".azure",
  ".docker",
  ".password-store",
  "keychains",
  "mcp-logins",
]);
const secretFiles = /^(?:\.netrc|\.git-credentials|\.npmrc|\.pypirc|\.pgpass|credentials\.json|id_(?:rsa|dsa|ecdsa|ed25519))$/;

function guardEditing(path: string, ground: Ground): Guard | undefined {
  const root = foldPath(ground.root);
  const folders = workFolders(ground).map(foldPath);
  if (folders.some((folder) => isInside(path, folder))) return { effect: "ask", reason: "it holds the whole project" };
  const inside = folders.some((folder) => isInside(folder, path));
  if (ground.runOutside?.some((file) => isInside(path, foldPath(file))))
    return { effect: "ask", reason: "hooks or servers of this session run it, outside of any sandbox" };
  // A folder beside the root may itself lie in a guarded one.
  const names = (isInside(root, path) ? path.slice(root.length) : path).split("/").filter(Boolean);
  for (const [index, name] of names.entries()) {
    const next = names[index + 1] ?? "";
    if (name === ".git") return guard(inside, "git's own files decide what git runs");
    if (name === ".outrider" && next === "memory")
      return guard(inside, "what is in it is told to agents, and people decide that");
    if ((name === ".outrider" || name === ".claude") && next !== "memory" && !openAgentFolders.has(next))
      return guard(inside, "settings, hooks and skills decide what agents may do");
    if (agentFolders.has(name) && agentSettings.test(next)) return guard(inside, "settings and hooks decide what agents may do");
    if (toolFolders.has(name)) return { effect: "ask", reason: `files in ${name} are run by other tools` };
    if (secretFolders.has(name)) return { effect: "ask", reason: `${name} holds credentials` };
    if (Object.hasOwn(toolParts, name) && toolParts[name]?.test(next) === true)
      return { effect: "ask", reason: "it configures other programs" };
    const meant = guardedNameFor(name, next === "");
    if (meant !== undefined) return { effect: "ask", reason: `it may mean ${meant}` };
    if (next === "" && startUpFiles.has(name)) return { effect: "ask", reason: "it is read when shells or tools start" };
  }
  if (!inside && /^\/(?:proc|dev|sys|etc|boot|usr|bin|sbin|lib\w*)(?:\/|$)/.test(path))
    return { effect: "ask", reason: "it belongs to the system" };
  return undefined;
}

/** What a hidden name with wildcards could stand for. One that starts with a wildcard stands for no hidden name. */
function guardedNameFor(name: string, isLast: boolean): string | undefined {
  if (!/^\..*[*?[]/.test(name)) return undefined;
  const guarded = [".git", ".outrider", ".claude", ".config", ...agentFolders, ...toolFolders, ...secretFolders];
  return [...guarded, ...(isLast ? startUpFiles : [])].find((known) => overlaps(name, known));
}

function guard(inside: boolean, reason: string): Guard {
  return { effect: inside ? "deny" : "ask", reason };
}

function guardReading(path: string, base: RuleBase): Guard | undefined {
  if (isHarmlessDevice(path)) return undefined;
  if (path.startsWith("/dev/")) return { effect: "deny", reason: "it is a device" };
  if (isInside(foldPath(base.root), path)) return undefined;
  if (isOfProcess.test(path) && !isFactOfProcess.test(path)) return { effect: "ask", reason: "it tells what a process knows" };
  const names = path.split("/");
  const isSecret = names.some((name) => secretFolders.has(name)) || /\/\.config\/(?:gh|gcloud)(?:\/|$)/.test(path);
  if (isSecret || secretFiles.test(basename(path)) || /^\/etc\/(?:g?shadow|sudoers)/.test(path))
    return { effect: "ask", reason: "it may hold credentials" };
  return undefined;
}

const isOfProcess = /^\/proc\/(?:\d+|self|thread-self|[^/]*[*?[][^/]*)\//;
const isFactOfProcess =
  /^\/proc\/[^/]+\/(?:status|stat|statm|comm|limits|io|cgroup|mounts|mountinfo|oom_score|loginuid|wchan|sched|net\/\w+)$/;

/**
 * The worktrees that Outrider makes are copies of the project, in `.outrider/worktrees/NAME` below it: what a rule forbids in the project it
 * forbids in them. Of a folded path in one, the path it is a copy of; of the folder that holds them, the project; of any other, itself.
 */
export function originalOf(folded: string): string {
  return folded.replace(/\/\.outrider(?:\/worktrees\/[^/]+(?=\/|$)|(?:\/worktrees)?\/?$)/g, "");
}

/** `//x` is absolute, `/x` and `./x` and `x` start at the project, `~/x` at home. */
export function toAbsolutePattern(pattern: string, base: RuleBase): string {
  if (pattern.startsWith("//")) return pattern.slice(1);
  if (pattern === "~" || pattern.startsWith("~/")) return join(base.home ?? "/nonexistent", pattern.replace("~", ""));
  return join(base.root, pattern);
}

/** The part of an absolute pattern before its first wildcard, without a half name. */
export function fixedPart(pattern: string): string {
  const wild = pattern.search(/[*?[]/);
  if (wild === -1) return pattern;
  return pattern.slice(0, pattern.lastIndexOf("/", wild)) || "/";
}

/** Could a pattern of the shell stand for a name, which may be a pattern of a rule? `*` of a shell does not start a hidden name, unless `hidden`. */
export function overlaps(shell: string, name: string, hidden = false): boolean {
  if (!hidden && /^[*?[]/.test(shell) && name.startsWith(".")) return false;
  if (shell.includes("[")) return true;
  let reachable = new Set([0]);
  const close = (states: Set<number>): Set<number> => {
    for (const state of states) if (name[state] === "*") states.add(state + 1);
    return states;
  };
  reachable = close(reachable);
  for (const letter of shell) {
    const next = new Set<number>();
    let left = letter === "*" && reachable.size > 0 ? Math.min(...reachable) : name.length + 1;
    while (left <= name.length) next.add(left++);
    for (const state of reachable) {
      const want = name[state];
      if (want === "*") next.add(state);
      else if (want !== undefined && (letter === "?" || want === "?" || want === letter)) next.add(state + 1);
    }
    reachable = close(next);
  }
  return reachable.has(name.length);
}
