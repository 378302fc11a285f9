import { join } from "node:path";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { createGit, type Git } from "./git.ts";
import { lockReason } from "./lock-reason.ts";
import { type Worktree, worktreesFolder } from "./worktree.ts";

export type PreparedWorktree = Worktree & {
  /** The folder in it that corresponds to the one the work was to begin in. */
  readonly cwd: string;
  /** Files that are changed in the user's own checkout, and so are not in this one. */
  readonly parentChanges: number;
  /** It was there before, with what is in it. */
  readonly isReused: boolean;
  readonly warnings: readonly string[];
};

export type PrepareWorktree = {
  /** Given by the user: a worktree of this name is used again. */
  readonly name?: string | undefined;
  /** A name of our own begins with this; eight more characters make it unique. */
  readonly prefix?: string | undefined;
  /** Who works there, as `describeOwner` says it: others leave it alone while that process lives. */
  readonly owner: string;
  /** At least eight characters of [0-9a-f], new at each call. */
  readonly newId: () => string;
  readonly signal: AbortSignal;
};

const attempts = 5;

/** A worktree that could be made: looked up, nothing written yet. */
export type WorktreePlan = Omit<PreparedWorktree, "branch"> & {
  /** The user's own checkout. */
  readonly top: string;
  /** Makes it, or takes it into use. */
  make(): Promise<PreparedWorktree>;
};

/**
 * A worktree below the top of the repository that `workspace.root` is in, from its HEAD. The user's index, HEAD, stash and branches stay as
 * they are, and no hook or filter of the repository runs. Rejects with what to do where there is no repository or no commit.
 */
export async function planWorktree(workspace: Workspace, wanted: PrepareWorktree): Promise<WorktreePlan> {
  const git = createGit(workspace, wanted.signal);
  const { top, prefix, base: head } = await findRepository(git, workspace.root);
  const folder = join(top, worktreesFolder);
  const name = wanted.name ?? `${wanted.prefix ?? "run"}-${wanted.newId().slice(0, 8)}`;
  requireName(name);
  const path = join(folder, name);
  const reused =
    wanted.name !== undefined && (await workspace.stat(path)) ? await unusedWorktree(git, { top, path, name }) : undefined;
  const base = reused?.base ?? head;
  const isThere = reused
    ? (await workspace.stat(join(path, prefix)))?.kind === "directory"
    : (await git(top, ["cat-file", "-e", `${base}:${prefix}`])).ok;
  const hasSubmodules = (await git(top, ["cat-file", "-e", `${base}:.gitmodules`])).ok;
  const facts = {
    name,
    path,
    base,
    cwd: isThere ? join(path, prefix) : path,
    parentChanges: await countChanges(git, top),
    isReused: reused !== undefined,
    warnings: [
      ...(isThere ? [] : [`${prefix} is not committed, so the work begins at the top of the worktree`]),
      ...(hasSubmodules ? ["The submodules of the repository are empty in the worktree"] : []),
    ],
  };
  return {
    ...facts,
    top,
    async make() {
      await makeFolder(workspace, folder);
      const reason = lockReason(wanted.owner);
      if (!reused) return { ...facts, branch: await add(git, { top, path, name, base, reason }) };
      await git(top, ["worktree", "lock", "--reason", reason, path]);
      return { ...facts, branch: reused.branch };
    },
  };
}

/** Plans and makes one, under another name where the first is taken meanwhile. */
export async function prepareWorktree(
  workspace: Workspace,
  wanted: PrepareWorktree,
): Promise<PreparedWorktree & { readonly top: string }> {
  for (let attempt = 1; ; attempt++) {
    const plan = await planWorktree(workspace, wanted);
    try {
      return { ...(await plan.make()), top: plan.top };
    } catch (error) {
      if (wanted.name !== undefined || attempt === attempts) throw error;
    }
  }
}

async function findRepository(git: Git, root: string): Promise<{ top: string; prefix: string; base: string }> {
  const found = await git(root, ["rev-parse", "--show-toplevel", "--show-prefix"]);
  const [top = "", prefix = ""] = found.text.split("\n").map((line) => line.replace(/\/$/, ""));
  if (!found.ok || top === "")
    throw new RuntimeError("usage", `${root} is in no git repository that has files: ${found.complaint}`, {
      hint: "A worktree is a second checkout of a repository. Work without one, or make the folder a repository with git init and a first commit",
    });
  const head = await git(root, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  if (!head.ok)
    throw new RuntimeError("usage", `The repository in ${top} has no commit yet, so there is nothing to check out`, {
      hint: "Make a first commit, or work without a worktree",
    });
  return { top, prefix, base: head.text };
}

/** A folder that git does not show, since it ignores itself. A link in its place would take the work elsewhere. */
async function makeFolder(workspace: Workspace, folder: string): Promise<void> {
  if ((await workspace.resolve(folder)) !== folder)
    throw new RuntimeError("usage", `${folder} leads elsewhere through a link: no worktree is made there`);
  const ignore = join(folder, ".gitignore");
  if (!(await workspace.stat(ignore))) await workspace.writeFile(ignore, "*\n");
}

async function countChanges(git: Git, top: string): Promise<number> {
  const { text } = await git(top, ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal"]);
  return text.split("\0").filter((entry) => entry !== "").length;
}

type Named = { readonly top: string; readonly path: string; readonly name: string };

async function unusedWorktree(git: Git, { top, path, name }: Named): Promise<Worktree> {
  const { findWorktree } = await import("./list-worktrees.ts");
  const known = await findWorktree(git, top, name);
  if (!known) throw new RuntimeError("usage", `${path} is there already and is no worktree of this repository`);
  if (known.lock !== undefined)
    throw new RuntimeError("usage", `The worktree ${name} is in use, or its run did not end in an orderly way`, {
      hint: "outrider worktrees gc frees it if nobody works there any more",
    });
  const { isOwnCheckout } = await import("./inspect-worktree.ts");
  if (!(await isOwnCheckout(git, path)))
    throw new RuntimeError(
      "usage",
      `${path} is no checkout of its own any more: its .git does not lead to its place in this repository`,
      {
        hint: "git worktree repair may mend it",
      },
    );
  return known.worktree;
}

/** Answers its branch. */
async function add(git: Git, { top, path, name, base, reason }: Named & { base: string; reason: string }): Promise<string> {
  // A branch called `outrider` leaves no room for branches below that name.
  const isTaken = (await git(top, ["show-ref", "--verify", "--quiet", "refs/heads/outrider"])).ok;
  const branch = isTaken ? `outrider-${name}` : `outrider/${name}`;
  const impossible = (complaint: string): RuntimeError =>
    new RuntimeError("usage", `No worktree could be made at ${path}: ${complaint}`);
  // Its branch first: what cannot be done at this moment can then be tried again as it is.
  const branched = await git(top, ["branch", "--no-track", branch, base]);
  if (!branched.ok) throw impossible(branched.complaint);
  const added = await git(top, ["worktree", "add", "--lock", "--reason", reason, path, branch]);
  if (added.ok) return branch;
  await git(top, ["update-ref", "-d", `refs/heads/${branch}`, base]);
  throw impossible(added.complaint);
}

function requireName(name: string): void {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name) && !name.includes("..") && !/\.(lock)?$/.test(name)) return;
  throw new RuntimeError("usage", `${JSON.stringify(name)} is no name for a worktree`, {
    hint: "Letters, digits, dots, dashes and underscores, beginning with a letter or digit, at most 64",
  });
}
