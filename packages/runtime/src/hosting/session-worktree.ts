import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeSelf } from "../journal/lock-owner.ts";
import type { SessionWorktree } from "../session/session-options.ts";
import { createGit } from "../tasks/worktrees/git.ts";
import { inspectWorktree } from "../tasks/worktrees/inspect-worktree.ts";
import { type PreparedWorktree, planWorktree } from "../tasks/worktrees/prepare-worktree.ts";
import { settleWorktree } from "../tasks/worktrees/settle-worktree.ts";
import { toWorktreeFacts } from "../tasks/worktrees/worktree-facts.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { createLocalWorkspace } from "../workspace/local.ts";

/** The worktree that a whole session works in. */
export type HostedWorktree = SessionWorktree & {
  readonly path: string;
  /** The folder in it where the session begins. */
  readonly cwd: string;
  readonly warnings: readonly string[];
  /** Makes it. To be called before the session is opened. */
  begin(): Promise<void>;
  /** After the session has ended, with all its processes: it goes if nothing was done in it. */
  settle(): Promise<void>;
};

export type HostedWorktreeRequest = {
  /** `true`: under a new name. */
  readonly wanted: true | string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly sessionId: string;
};

export async function planSessionWorktree({ wanted, cwd, env, sessionId }: HostedWorktreeRequest): Promise<HostedWorktree> {
  const { signal } = new AbortController(); // each git has a time limit of its own
  const variables = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const machine = createLocalWorkspace({ root: cwd, env: variables, overflowDirectory: join(tmpdir(), "outrider") });
  const git = createGit(machine, signal);
  const plan = await planWorktree(machine, {
    name: wanted === true ? undefined : wanted,
    owner: JSON.stringify(describeSelf(sessionId)),
    newId: () => randomUuid().replaceAll("-", ""),
    signal,
  });
  let made: PreparedWorktree | undefined;
  const place = { machine, git, top: plan.top };
  return {
    path: plan.path,
    cwd: plan.cwd,
    warnings: plan.warnings,
    async begin() {
      made ??= await plan.make();
    },
    inspect: async () => made && toWorktreeFacts(made, await inspectWorktree(machine, git, made)),
    async settle() {
      if (made) await settleWorktree(place, made);
      await machine.close();
    },
  };
}
