import { basename } from "node:path";
import { smallText } from "./host-files.ts";

/** Files that programs of the user read by themselves and that can name something to run: they may be changed, but not unseen. */
const names = new Set(
  [
    ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .kshrc .cshrc .tcshrc",
    ".login .inputrc .envrc .gitconfig .ripgreprc .vimrc .exrc .nvimrc .nvim.lua .lvimrc .dir-locals.el .gdbinit .lldbinit",
    ".npmrc .yarnrc .yarnrc.yml .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs package.json .mise.toml mise.toml .tool-versions",
    ".pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml .overcommit.yml .gitlab-ci.yml",
    ".mcp.json .claude.json .devcontainer.json sitecustomize.py usercustomize.py hgrc git-rebase-todo",
  ].flatMap((line) => line.split(" ")),
);

/** The same for whole folders. */
const folders =
  /\/(?:\.vscode|\.idea|\.zed|\.fleet|\.husky|\.devcontainer|\.circleci|\.cargo|\.mise|\.direnv|\.github\/workflows|\.outrider|\.claude|\.agents?|\.codex|\.gemini|\.cursor|\.opencode)(?:\/|$)/;
/** Where agents keep their own notes. */
const notes = /\/(?:\.outrider|\.claude)\/(?:worktrees|tasks|memory|plans|tmp)(?:\/|$)/;
const folderNames = /^(?:\.vscode|\.idea|\.zed|\.husky|\.devcontainer|\.github|\.claude|\.outrider)$/;

export function runsLater(folder: string, name: string): boolean {
  if (/\/node_modules(?:\/|$)/.test(folder)) return false; // packages: all of it is code of others
  // A link can stand for a whole folder.
  return names.has(name) || folderNames.test(name) || (folders.test(folder) && !notes.test(folder));
}

/** What in the file can be run, as far as it can be told in parts; undefined for files that count as a whole. */
export function scriptsOf(path: string): Readonly<Record<string, string>> | undefined {
  if (basename(path) !== "package.json") return undefined;
  try {
    const { scripts } = JSON.parse(smallText(path) ?? "{}");
    return Object.fromEntries(Object.entries(scripts ?? {}).map(([name, script]) => [name, String(script)]));
  } catch {
    return {};
  }
}

/** Names of scripts that are new or different; scripts that went away run nothing. */
export function changedScripts(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): readonly string[] {
  return Object.keys(after).filter((name) => before[name] !== after[name]);
}
