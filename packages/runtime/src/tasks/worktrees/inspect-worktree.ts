import { join } from "node:path";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Git } from "./git.ts";
import { type Commit, noWork, type Worktree, type WorktreeWork } from "./worktree.ts";

const maxCommits = 100;

/** What making a worktree and committing in it leave in its own folder of the repository. Anything more is an operation that goes on. */
const usualEntries = new Set(
  "HEAD ORIG_HEAD FETCH_HEAD COMMIT_EDITMSG commondir gitdir index locked logs refs config.worktree".split(" "),
);

/**
 * All that a worktree holds beyond the commit it was made from. Whatever cannot be looked at counts as work: nothing goes because git had
 * no answer.
 */
export async function inspectWorktree(
  machine: Pick<Workspace, "readDirectory">,
  git: Git,
  { path, branch, base }: Worktree,
): Promise<WorktreeWork> {
  if (!(await isOwnCheckout(git, path))) return { ...noWork, odd: ["it is no checkout of its own any more"] };
  const odd: string[] = [];
  const ask = async (words: readonly string[], what: string): Promise<string> => {
    const { ok, text, complaint } = await git(path, words);
    if (!ok) odd.push(`${what} cannot be read (${complaint})`);
    return text;
  };
  const status = await ask(
    ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored=traditional"],
    "its state",
  );
  const entries = status.split("\0").filter((entry) => entry !== "");
  const untracked = entries.filter((entry) => entry.startsWith("??")).length;
  const ignored = entries.filter((entry) => entry.startsWith("!!")).length;
  const listed = (await ask(["ls-files", "-v", "-s", "-z"], "its index")).split("\0").flatMap(toIndexEntry);
  const hidden = await hiddenFiles(machine, path, listed);
  odd.push(...(await filledSubmodules(machine, path, listed)));

  const head = await git(path, ["symbolic-ref", "--quiet", "HEAD"]);
  if (head.text !== `refs/heads/${branch}`)
    odd.push(head.ok ? `HEAD on ${head.text.replace("refs/heads/", "")}` : "HEAD detached");
  const log = await ask(["log", `--max-count=${maxCommits}`, "--format=%H%x09%s", `${base}..HEAD`, "--"], "its commits");
  const commits = log.split("\n").flatMap(toCommit);

  const folder = await ask(["rev-parse", "--absolute-git-dir"], "its git folder");
  odd.push(...(await unfinished(machine, folder)));
  return {
    changed: entries.length - untracked - ignored + hidden,
    untracked,
    ignored,
    commits,
    dropped: await droppedCommits(git, { path, base }),
    odd,
  };
}

/** Without its `.git` file git would look at the repository around it, which is the user's. */
export async function isOwnCheckout(git: Git, path: string): Promise<boolean> {
  const { ok, text } = await git(path, [
    "rev-parse",
    "--path-format=absolute",
    "--show-toplevel",
    "--git-dir",
    "--git-common-dir",
  ]);
  const [top, own = "", common] = text.split("\n");
  return ok && top === path && own.startsWith(`${common}/worktrees/`);
}

type IndexEntry = { readonly tag: string; readonly isSubmodule: boolean; readonly name: string };

/** `H 160000 ID 0<tab>name`. */
function toIndexEntry(line: string): IndexEntry[] {
  const [, tag = "", mode, name = ""] = /^(.) (\d+) [^\t]*\t(.*)$/s.exec(line) ?? [];
  return name === "" ? [] : [{ tag, isSubmodule: mode === "160000", name }];
}

/** The folder of a submodule that was not fetched is empty, and `status` is silent about what somebody puts there. */
async function filledSubmodules(
  machine: Pick<Workspace, "readDirectory">,
  path: string,
  listed: readonly IndexEntry[],
): Promise<string[]> {
  const filled: string[] = [];
  for (const { isSubmodule, name } of listed)
    if (isSubmodule && (await machine.readDirectory(join(path, name)).catch(() => [])).length > 0)
      filled.push(`files in the submodule ${name}`);
  return filled;
}

/** Files that the index says are not to be looked at: `status` is silent about changes in them. */
async function hiddenFiles(
  machine: Pick<Workspace, "readDirectory">,
  path: string,
  listed: readonly IndexEntry[],
): Promise<number> {
  let count = 0;
  for (const { tag, name } of listed) {
    if (!/[a-zS]/.test(tag)) continue;
    // Left out of a sparse checkout: not there, so nobody can have changed it.
    if (tag === "S" && !(await isThere(machine, join(path, name)))) continue;
    count++;
  }
  return count;
}

async function isThere(machine: Pick<Workspace, "readDirectory">, path: string): Promise<boolean> {
  const slash = path.lastIndexOf("/");
  const siblings = await machine.readDirectory(path.slice(0, slash)).catch(() => []);
  return siblings.some(({ name }) => name === path.slice(slash + 1));
}

/** A merge, a rebase, a bisection, submodules: whatever git keeps only in this folder would go with it. */
async function unfinished(machine: Pick<Workspace, "readDirectory">, folder: string): Promise<string[]> {
  if (folder === "") return [];
  const names = async (place: string): Promise<string[]> =>
    (await machine.readDirectory(place).catch(() => [])).map(({ name }) => name);
  const more = (await names(folder)).filter((name) => !usualEntries.has(name));
  const refs = await names(join(folder, "refs"));
  return [...more, ...refs.map((name) => `refs/${name}`)].map((name) => `${name} in its git folder`);
}

/** Commits that its reflog knows and that no branch or tag of the repository leads to. */
async function droppedCommits(git: Git, { path, base }: { path: string; base: string }): Promise<string[]> {
  const { ok, text } = await git(path, ["reflog", "show", "--format=%H", "HEAD"]);
  if (!ok || text === "") return [];
  const known = [...new Set(text.split("\n"))].filter((id) => id !== base);
  if (known.length === 0) return [];
  const { ok: isKnown, text: unreached } = await git(path, [
    "rev-list",
    `--max-count=${maxCommits}`,
    ...known.slice(0, 2_000),
    "--not",
    "HEAD",
    "--branches",
    "--tags",
    "--remotes",
  ]);
  return isKnown ? unreached.split("\n").filter((id) => id !== "") : known;
}

function toCommit(line: string): Commit[] {
  const tab = line.indexOf("\t");
  return tab < 0 ? [] : [{ id: line.slice(0, tab), subject: line.slice(tab + 1) }];
}
