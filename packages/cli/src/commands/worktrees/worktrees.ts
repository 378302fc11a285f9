import { tmpdir } from "node:os";
import { join } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import { nearest } from "@outrider/runtime/host";
import {
  collectWorktree,
  createGit,
  createLocalWorkspace,
  describeWork,
  type Git,
  inspectWorktree,
  isOwnerAlive,
  type ListedWorktree,
  type LocalWorkspace,
  listWorktrees,
  ownerIn,
  parseOwner,
  type WorktreeWork,
} from "@outrider/runtime/admin";
import { exitCodes } from "../../exit-codes.ts";
import { type OwnWords, takeOwnWords } from "../../flags/words.ts";
import { print, visible } from "../../terminal/visible.ts";

const usage = `Usage:
  outrider worktrees list [--json]                     list the checkouts in which agents worked, and what is in each
  outrider worktrees open NAME                         print its path: cd "$(outrider worktrees open NAME)"
  outrider worktrees merge NAME [--commit MESSAGE]     git merge its branch here, then remove it; --commit commits open changes first
  outrider worktrees remove NAME [--force]             remove it and its branch; --force even if that loses work
  outrider worktrees gc [--dry-run] [--json]           remove those whose work is all on another branch, unlock those
                                                       whose run was killed, and list what is left

--cwd DIR: for the repository in DIR. Agents get one with outrider --worktree [NAME], or isolation: worktree in their definition.

Exit codes: 0 done · 1 refused, or a merge with conflicts · 64 wrong usage · 66 no such worktree
`;

const actions: Readonly<Record<string, { switches: readonly string[]; values: readonly string[]; takesName: boolean }>> = {
  list: { switches: ["--json"], values: ["--cwd"], takesName: false },
  open: { switches: [], values: ["--cwd"], takesName: true },
  merge: { switches: [], values: ["--cwd", "--commit"], takesName: true },
  remove: { switches: ["--force"], values: ["--cwd"], takesName: true },
  gc: { switches: ["--dry-run", "--json"], values: ["--cwd"], takesName: false },
};

type Place = { readonly machine: LocalWorkspace; readonly git: Git; readonly folder: string };

/** The worktrees that agents worked in: look at them, take their work over, clear up. */
export async function runWorktrees(args: readonly string[]): Promise<number> {
  if (args.length === 0 || args.includes("--help") || args.includes("-h")) return await say(usage);
  const [action = "", ...rest] = args;
  const words = takeWords(action, rest);
  const place = openPlace(words.value("--cwd") ?? ".");
  try {
    if (action === "list") return await list(place, words.has("--json"));
    if (action === "gc") return await collect(place, { dryRun: words.has("--dry-run"), json: words.has("--json") });
    const found = await find(place, words.rest[0] ?? "");
    if (action === "open") return await say(`${found.worktree.path}\n`);
    if (action === "merge") return await merge(place, found, words.value("--commit"));
    return await remove(place, found, words.has("--force"));
  } finally {
    await place.machine.close();
  }
}

function takeWords(name: string, args: readonly string[]): OwnWords {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) {
    const guess = nearest(name, Object.keys(actions));
    throw new RuntimeError("usage", `worktrees does not know ${name}${guess ? `; did you mean ${guess}?` : ""}\n${usage}`);
  }
  const words = takeOwnWords(args, action);
  const expected = action.takesName ? 1 : 0;
  if (words.rest.length !== expected || words.rest.some((word) => word.startsWith("-")))
    throw new RuntimeError(
      "usage",
      `worktrees ${name} takes ${action.takesName ? "the name of one worktree" : "no name"}\n${usage}`,
    );
  return words;
}

function openPlace(root: string): Place {
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const machine = createLocalWorkspace({ root, env, overflowDirectory: join(tmpdir(), "outrider") });
  return { machine, git: createGit(machine, new AbortController().signal), folder: machine.root };
}

async function find({ git, folder }: Place, name: string): Promise<ListedWorktree> {
  const all = await listWorktrees(git, folder);
  const found = all.find(({ worktree }) => worktree.name === name);
  if (found) return found;
  const guess = nearest(
    name,
    all.map(({ worktree }) => worktree.name),
  );
  throw new RuntimeError("not-found", `There is no worktree ${JSON.stringify(name)}${guess ? `; did you mean ${guess}?` : ""}`, {
    hint: "outrider worktrees list shows them",
  });
}

/** `cut-off`: the run that worked there was killed. */
type Use = "free" | "in use" | "cut off" | "locked";

function useOf({ lock }: ListedWorktree): Use {
  if (lock === undefined) return "free";
  const text = ownerIn(lock);
  if (text === undefined) return "locked"; // by the user: theirs to unlock
  const owner = parseOwner(text);
  return owner && isOwnerAlive(owner) === false ? "cut off" : "in use";
}

async function list({ machine, git, folder }: Place, json: boolean): Promise<number> {
  const lines: string[] = [];
  const records: object[] = [];
  for (const listed of await listWorktrees(git, folder)) {
    const { worktree } = listed;
    const use = useOf(listed);
    const work = await inspectWorktree(machine, git, worktree);
    records.push({ ...worktree, use, ...work });
    lines.push(`${worktree.name}  ${describeWork(work)}${use === "free" ? "" : `  (${use})`}`);
    lines.push(`  ${worktree.path}  ${worktree.branch}`);
    lines.push(...work.commits.map(({ id, subject }) => `    ${id.slice(0, 10)} ${subject}`));
  }
  if (json) return await say(`${JSON.stringify(records, null, 2)}\n`);
  return await say(lines.length === 0 ? "There are no worktrees of outrider here\n" : toText(lines));
}

async function merge({ machine, git, folder }: Place, listed: ListedWorktree, message: string | undefined): Promise<number> {
  const { worktree, top } = listed;
  refuseInUse(listed);
  const work = await inspectWorktree(machine, git, worktree);
  const asUser = { asUser: true };
  if (work.changed + work.untracked > 0) {
    if (message === undefined)
      throw new RuntimeError("busy", `${worktree.name} holds what is not committed: ${describeWork(work)}`, {
        hint: `outrider worktrees merge ${worktree.name} --commit MESSAGE commits it first`,
      });
    for (const words of [
      ["add", "-A"],
      ["commit", "-m", message],
    ]) {
      const { ok, complaint, text } = await git(worktree.path, words, asUser);
      if (!ok) throw new RuntimeError("busy", `git ${words[0]} failed in ${worktree.path}: ${complaint || text}`);
    }
  }
  const merged = await git(folder, ["merge", "--no-edit", worktree.branch], asUser);
  await print(toText(merged.text.split("\n")));
  if (!merged.ok) {
    process.stderr.write(
      `outrider: ${worktree.branch} is not merged${merged.complaint ? `: ${visible(merged.complaint)}` : ""}. Look at git status in ${visible(folder)}; the worktree stays\n`,
    );
    return exitCodes.error;
  }
  const settled = await collectWorktree({ machine, git, top }, worktree);
  return await say(settled.status === "removed" ? `Merged; ${worktree.name} is removed\n` : `Merged; ${whyKept(settled)}\n`);
}

async function remove({ machine, git }: Place, listed: ListedWorktree, force: boolean): Promise<number> {
  const { worktree, top } = listed;
  refuseInUse(listed);
  const settled = await collectWorktree({ machine, git, top }, worktree);
  if (settled.status === "removed") return await say(`${worktree.name} is removed\n`);
  if (!force)
    throw new RuntimeError("busy", whyKept(settled), { hint: "--force removes it all the same; what is in it is lost" });
  const gone = await git(top, ["worktree", "remove", "--force", worktree.path]);
  if (!gone.ok) throw new RuntimeError("busy", `${worktree.path} could not be removed: ${gone.complaint}`);
  await git(top, ["update-ref", "-d", `refs/heads/${worktree.branch}`]);
  return await say(`${worktree.name} is removed, with ${describeWork(settled.work)}\n`);
}

function refuseInUse(listed: ListedWorktree): void {
  const use = useOf(listed);
  if (use === "in use") throw new RuntimeError("busy", `An agent works in ${listed.worktree.name} now`);
  if (use === "locked") throw new RuntimeError("busy", `${listed.worktree.name} is locked: git worktree unlock frees it`);
}

type Collected = { readonly name: string; readonly path: string; readonly status: string; readonly reason: string };

async function collect(
  { machine, git, folder }: Place,
  { dryRun, json }: { readonly dryRun: boolean; readonly json: boolean },
): Promise<number> {
  const collected: Collected[] = [];
  for (const listed of await listWorktrees(git, folder)) {
    const { worktree, top } = listed;
    const { name, path } = worktree;
    const use = useOf(listed);
    const add = (status: string, reason: string): number => collected.push({ name, path, status, reason });
    if (use === "in use" || use === "locked") add("kept", use);
    else if (dryRun) add("looked at", describeWork(await inspectWorktree(machine, git, worktree)));
    else {
      const settled = await collectWorktree({ machine, git, top }, worktree);
      const freed = use === "cut off" ? "; its run was cut off" : "";
      if (settled.status === "removed") add("removed", `nothing in it was lost${freed}`);
      else add("kept", `${settled.problem ?? describeWork(settled.work)}${freed}`);
    }
  }
  if (json) return await say(`${JSON.stringify(collected, null, 2)}\n`);
  const lines = collected.map(({ name, path, status, reason }) => `${status}  ${name}  ${reason}  ${path}`);
  return await say(lines.length === 0 ? "There are no worktrees of outrider here\n" : toText(lines));
}

function whyKept({ name, path, work, problem }: { name: string; path: string; work: WorktreeWork; problem?: string }): string {
  return `${name} stays at ${path}: ${problem ?? describeWork(work)}`;
}

function toText(lines: readonly string[]): string {
  return lines.map((line) => `${visible(line)}\n`).join("");
}

async function say(text: string): Promise<number> {
  await print(text);
  return exitCodes.success;
}
