import { dirname, join } from "node:path";
import { isInside } from "../util/is-inside.ts";
import type { ListFolder } from "./glob-words.ts";
import { planDenies } from "./decide.ts";
import { foldPath, workFolders } from "./paths.ts";
import type { Decision, Policy } from "./policy.ts";
import { type Action, allows, type Rule } from "./rules.ts";

type Ground = { readonly folders: readonly string[]; readonly list: ListFolder | undefined };

/** Names in a folder of git's that decide what git runs, or that make it one. */
const gitNames = new Set(
  "head config config.worktree commondir gitdir hooks objects refs packed-refs info modules worktrees".split(" "),
);

/** What git takes for a repository, whatever the folder is called: it asks for these names and does not care what they are. */
function isGitFolder(names: ReadonlySet<string>): boolean {
  return names.has("head") && (names.has("commondir") || (names.has("objects") && names.has("refs")));
}

async function namesIn(folder: string, { list }: Ground): Promise<Set<string>> {
  const entries = (await list?.(folder).catch(() => undefined)) ?? [];
  return new Set(entries.map(({ name }) => foldPath(name)));
}

/**
 * The first of these files that belongs to a repository, or to one that is there when all of them are written. What is in a `.git` is
 * protected by that name already, and opened by rules that say it.
 */
export async function gitFileAmong(paths: readonly string[], ground: Ground): Promise<string | undefined> {
  const written = new Map<string, { readonly path: string; readonly name: string }[]>();
  for (const path of paths) {
    if (foldPath(path).split("/").includes(".git")) continue;
    for (let at = path; ground.folders.some((folder) => at !== folder && isInside(folder, at)); at = dirname(at)) {
      const name = foldPath(at.slice(at.lastIndexOf("/") + 1));
      const folder = dirname(at);
      if (gitNames.has(name)) written.set(folder, [...(written.get(folder) ?? []), { path, name }]);
    }
  }
  for (const [folder, files] of written) {
    const names = new Set([...(await namesIn(folder, ground)), ...files.map(({ name }) => name)]);
    if (isGitFolder(names)) return files[0]?.path;
  }
  return undefined;
}

/** Each of the files of a call may be an ordinary one. A rule opens them if it names the file. */
export async function guardGitFiles(policy: Policy, actions: readonly Action[]): Promise<Decision[]> {
  const { base, directories, listFolder: list } = policy;
  const isExact = ({ exactly, pattern = "*" }: Rule): boolean => exactly !== undefined || !/[*?[]/.test(pattern);
  const isAllowed = (action: Action): boolean => policy.allow.some((rule) => isExact(rule) && allows(rule, action, base));
  const paths = actions.flatMap((action) => (action.kind === "edit" && !isAllowed(action) ? [action.resource] : []));
  const path = await gitFileAmong(paths, { folders: workFolders({ ...base, directories }), list });
  return path === undefined ? [] : [gitFileDecision(policy, path)];
}

/** As for `.git`. */
export function gitFileDecision({ mode }: Policy, path: string): Decision {
  if (mode === "plan") return planDenies;
  return {
    effect: "deny",
    reason: `${path} is protected: its folder looks like a git repository, whose files decide what git runs`,
  };
}

/** The folder that git would take for its repository when it is started in `start`, unless a `.git` is nearer. */
export async function gitFolderAround(start: string, ground: Ground): Promise<string | undefined> {
  for (let at = start; ground.folders.some((folder) => isInside(folder, at)); at = dirname(at)) {
    const names = await namesIn(join(at, "/"), ground);
    if (names.has(".git")) return undefined;
    if (isGitFolder(names)) return at;
    if (at === "/") return undefined;
  }
  return undefined;
}
