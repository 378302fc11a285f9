import { describeSelf } from "../../journal/lock-owner.ts";
import type { Emit, WorktreeFacts } from "../../protocol/events.ts";
import { toRuntimeError } from "../../protocol/errors.ts";
import { createGit } from "../../tasks/worktrees/git.ts";
import { prepareWorktree } from "../../tasks/worktrees/prepare-worktree.ts";
import { settleWorktree } from "../../tasks/worktrees/settle-worktree.ts";
import { noWork } from "../../tasks/worktrees/worktree.ts";
import { toWorktreeFacts } from "../../tasks/worktrees/worktree-facts.ts";
import { ToolFailure } from "../../tools/tool.ts";
import { randomUuid } from "../../util/unique-ids.ts";
import type { SubagentRun } from "./subagents.ts";

/** The checkout of its own in which a subagent works. */
export type AgentWorktree = {
  readonly cwd: string;
  readonly warnings: readonly string[];
  /** After the subagent and all its processes have ended: removes it if nothing was done in it. Says what became of it, once. */
  settle(): Promise<WorktreeFacts>;
};

/** Rejects, with a reason for the model, where none can be made or a hook objects. Work that was to be isolated is never done elsewhere. */
export async function openAgentWorktree({ taskId, spec, place, signal }: SubagentRun, emit: Emit): Promise<AgentWorktree> {
  const { workspace, hooks } = place.deps;
  const made = await prepareWorktree(workspace, {
    prefix: taskId,
    owner: JSON.stringify(describeSelf(taskId)),
    newId: () => randomUuid().replaceAll("-", ""),
    signal,
  }).catch((error: unknown) => {
    const { message, hint } = toRuntimeError(error);
    throw new ToolFailure(`The agent was to work in a worktree of its own: ${message}.${hint ? ` ${hint}.` : ""}`);
  });
  const git = createGit(workspace, new AbortController().signal); // clearing up is not cut off with the work
  const facts = { name: made.name, path: made.path, branch: made.branch };
  const settle = async (): Promise<WorktreeFacts> => {
    const settled = await settleWorktree({ machine: workspace, git, top: made.top }, made);
    if (settled.status === "removed")
      await hooks?.ask("WorktreeRemove", () => facts, { signal: new AbortController().signal, emit });
    return toWorktreeFacts(made, settled.status === "kept" ? settled.work : noWork);
  };
  const verdict = await hooks?.ask("WorktreeCreate", () => facts, { signal, emit });
  const objection = verdict?.stop ?? (verdict?.decision?.effect === "deny" ? verdict.decision.reason : undefined);
  if (objection !== undefined) {
    await settle();
    throw new ToolFailure(`A hook does not let ${spec.agent.name} work in a worktree: ${objection}`);
  }
  let settled: Promise<WorktreeFacts> | undefined;
  return {
    cwd: made.cwd,
    warnings: made.warnings,
    settle() {
      settled ??= settle();
      return settled;
    },
  };
}
