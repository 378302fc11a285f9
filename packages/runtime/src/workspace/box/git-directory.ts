import { dirname, join, resolve } from "node:path";
import { entryAt, namesIn, realPathOf, smallText } from "./host-files.ts";

/** What in a git directory decides which programs git runs, and where it looks for that. */
export const decidingNames: readonly string[] = ["config", "config.worktree", "hooks", "commondir"];

/** Would this file be a deciding one if the folder around became a git directory? Names of hooks have no dot. */
export function isDecidingPiece(folder: string, name: string): boolean {
  if (name === "config" || name === "config.worktree" || name === "commondir") return true;
  return folder.endsWith("/hooks") ? /^[a-z0-9-]+$/.test(name) : name === "hooks";
}

const maxNested = 64;

/** The git directories of submodules, also of submodules in them. */
export function submoduleDirectories(gitDirectory: string): string[] {
  const found: string[] = [];
  const open = [join(gitDirectory, "modules")];
  // A submodule's name may hold slashes, so its directory may lie deeper; the loop walks what it appends.
  for (const folder of open) {
    for (const name of namesIn(folder)) {
      const path = join(folder, name);
      if (found.length >= maxNested || open.length >= maxNested || entryAt(path) !== "directory") continue;
      if (isGitDirectory(path)) {
        found.push(path);
        open.push(join(path, "modules"));
      } else open.push(path);
    }
  }
  return found;
}

/** The administrative directories of linked worktrees. */
export function worktreeDirectories(gitDirectory: string): string[] {
  const folder = join(gitDirectory, "worktrees");
  return namesIn(folder)
    .map((name) => join(folder, name))
    .filter((path) => entryAt(path) === "directory")
    .slice(0, maxNested);
}

/** What git takes for a repository: it asks for these names and does not care what they are. */
export function isGitDirectory(path: string): boolean {
  return hasGitNames((name) => entryAt(join(path, name)) !== "missing");
}

/**
 * Is a directory one of git's, by the names in it or by its own? Half a `.git` is none to git yet, but whatever is in it counts
 * once somebody adds the rest, and `git init` adds it to all that is there.
 */
export function isGitByName(path: string, has: (name: string) => boolean): boolean {
  return path.endsWith("/.git") || hasGitNames(has);
}

function hasGitNames(has: (name: string) => boolean): boolean {
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}

/**
 * The repository a linked worktree belongs to. Anybody can write a `.git` file that names any directory, so it counts only when
 * that directory names the worktree back, as `git worktree add` makes it.
 */
export function repositoryOfWorktree(root: string): string | undefined {
  const named = /^gitdir: (.+?)\n?$/.exec(smallText(join(root, ".git")) ?? "")?.[1];
  const own = named === undefined ? undefined : realPathOf(resolve(root, named));
  if (own === undefined) return undefined;
  const back = smallText(join(own, "gitdir"))?.trim();
  if (back === undefined || realPathOf(dirname(resolve(own, back))) !== root) return undefined;
  const common = realPathOf(resolve(own, smallText(join(own, "commondir"))?.trim() ?? ""));
  if (common === undefined || dirname(dirname(own)) !== common || !isGitDirectory(common)) return undefined;
  return common;
}

/** Files and directories outside the git directory from which its configuration takes hooks or more configuration. */
export function configuredPaths(gitDirectory: string, worktree: string): string[] {
  const lines = (smallText(join(gitDirectory, "config")) ?? "").split("\n");
  let section = "";
  return lines.flatMap((line) => {
    section = /^\s*\[\s*([\w.-]+)/.exec(line)?.[1]?.toLowerCase() ?? section;
    const entry = /^\s*(?:\[[^\]]*\]\s*)?(\w+)\s*=\s*"?(.*?)"?\s*$/.exec(line);
    const key = `${section}.${entry?.[1]?.toLowerCase() ?? ""}`;
    const value = entry?.[2] ?? "";
    if (value === "" || value.startsWith("~")) return [];
    if (key === "core.hookspath") return [resolve(worktree, value)];
    return key === "include.path" || key === "includeif.path" ? [resolve(gitDirectory, value)] : [];
  });
}

/** What `git init`, `git clone` and a person's first `git config` write; anything else may name a program. */
const plainEntries: Readonly<Record<string, RegExp>> = {
  core: /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|quotepath|longpaths|abbrev|sparsecheckout|sparsecheckoutcone)$/,
  user: /^(?:name|email)$/,
  init: /^defaultbranch$/,
  remote: /^(?:url|pushurl|fetch|tagopt|promisor|partialclonefilter|prune|mirror)$/,
  branch: /^(?:remote|merge|rebase|vscode-merge-base)$/,
  submodule: /^(?:url|active)$/,
  extensions: /^(?:objectformat|refstorage|partialclone)$/,
  pull: /^(?:rebase|ff)$/,
  push: /^(?:default|autosetupremote)$/,
  merge: /^(?:ff|conflictstyle)$/,
  fetch: /^prune$/,
  commit: /^gpgsign$/,
  tag: /^gpgsign$/,
  gc: /^auto$/,
  advice: /^\w+$/,
  color: /^ui$/,
  receive: /^(?:denycurrentbranch|denynonfastforwards)$/,
};

/** The lines of a git configuration that only describe, never run anything. */
export function plainConfiguration(text: string): string {
  return linesOf(text)
    .flatMap(({ line, isPlain }) => (isPlain ? [line] : []))
    .join("\n");
}

/** The other lines, each with the section it stands in. */
export function armedEntries(text: string): string[] {
  return linesOf(text).flatMap(({ section, line, isPlain }) => (isPlain ? [] : [`${section}\n${line}`]));
}

function linesOf(text: string): { section: string; line: string; isPlain: boolean }[] {
  let allowed: RegExp | undefined;
  let section = "";
  return text.split("\n").map((line) => {
    const header = /^\[(\w+)(?: "[^"\\]*")?\]$/.exec(line);
    if (header) {
      allowed = plainEntries[(header[1] ?? "").toLowerCase()];
      section = line;
      return { section, line, isPlain: allowed !== undefined };
    }
    if (/^\s*(?:[#;][^\\]*)?$/.test(line)) return { section, line, isPlain: true };
    const entry = /^\s+([\w-]+) = [^\\]*$/.exec(line);
    if (entry) return { section, line, isPlain: allowed?.test((entry[1] ?? "").toLowerCase()) ?? false };
    allowed = undefined; // a header that is not understood: what follows belongs to it
    section = line;
    return { section, line, isPlain: false };
  });
}
