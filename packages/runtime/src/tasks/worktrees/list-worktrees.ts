import { basename, dirname, join } from "node:path";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Git } from "./git.ts";
import { type Worktree, worktreesFolder } from "./worktree.ts";

export type ListedWorktree = {
  readonly worktree: Worktree;
  /** Why git is not to touch it; absent when it is not locked. */
  readonly lock?: string;
  /** The top of the repository. */
  readonly top: string;
};

/** The worktrees that we made in the repository which `folder` is in, from whichever of its checkouts it is asked. */
export async function listWorktrees(git: Git, folder: string): Promise<ListedWorktree[]> {
  const { ok, text, complaint } = await git(folder, ["worktree", "list", "--porcelain", "-z"]);
  if (!ok)
    throw new RuntimeError("usage", `The worktrees cannot be listed: ${complaint}`, {
      hint: hintFor(complaint),
    });
  const listed: ListedWorktree[] = [];
  for (const record of text.split("\0\0")) {
    const fields = new Map(record.split("\0").map((line) => splitOnce(line)));
    const path = fields.get("worktree") ?? "";
    const top = dirname(dirname(dirname(path)));
    if (path !== join(top, worktreesFolder, basename(path))) continue;
    const branch = await ownBranch(git, folder, basename(path));
    if (branch === undefined) continue; // somebody else's, who has put it there
    const base = await baseOf(git, path);
    const lock = fields.get("locked");
    const worktree = { name: basename(path), path, branch, base: base ?? fields.get("HEAD") ?? "" };
    listed.push({ worktree, top, ...(lock !== undefined && { lock }) });
  }
  return listed;
}

/** git looks at all worktrees, and gives up at one that another git has begun and was killed before it had checked out anything. */
function hintFor(complaint: string): string {
  const [, half] = /failed to read (.*)\/commondir/.exec(complaint) ?? [];
  if (half === undefined) return "Ask in a git repository, with git 2.36 or newer";
  return `A git that was making this worktree was killed before anything was in it. If none is at work any more, remove the folder ${half}`;
}

export async function findWorktree(git: Git, folder: string, name: string): Promise<ListedWorktree | undefined> {
  return (await listWorktrees(git, folder)).find(({ worktree }) => worktree.name === name);
}

/** The branch that was made for it. Whatever it has checked out since is not ours to delete. */
async function ownBranch(git: Git, folder: string, name: string): Promise<string | undefined> {
  for (const branch of [`outrider/${name}`, `outrider-${name}`])
    if ((await git(folder, ["show-ref", "--verify", "--quiet", `refs/heads/${branch}`])).ok) return branch;
  return undefined;
}

/** The first entry of its reflog: the commit it was made from. */
async function baseOf(git: Git, path: string): Promise<string | undefined> {
  const { ok, text } = await git(path, ["reflog", "show", "--format=%H", "HEAD"]);
  const last = text.split("\n").at(-1);
  return ok && last ? last : undefined;
}

function splitOnce(line: string): [string, string] {
  const space = line.indexOf(" ");
  return space < 0 ? [line, ""] : [line.slice(0, space), line.slice(space + 1)];
}
