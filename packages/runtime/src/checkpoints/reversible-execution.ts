import type { ToolFacts } from "../protocol/tool-facts.ts";

/** What stands between a call's effects and the user's files. */
export type ExecutionIsolation = "none" | "worktree" | "provider-sandbox";

/** `local-first`: a call runs only when what it does can be undone. */
export type ReversibleExecutionOptions = {
  readonly mode: "local-first";
  readonly isolation?: ExecutionIsolation;
  /** Also refuse tools nobody knows the effects of, such as those of MCP servers. */
  readonly enforceUntrackedSideEffects?: boolean;
};

export type ReversibleSideEffect = "none" | "file-mutation" | "shell-process" | "subagent" | "unknown";
export type RollbackLayer = "none" | "edit-checkpoint" | "worktree" | "provider-sandbox";
export type ReversibleStatus = "reversible" | "read-only" | "requires-checkpoint" | "requires-isolation" | "unknown";

export type ReversibleSafetyReport = {
  readonly toolName: string;
  readonly reversible: boolean;
  readonly sideEffect: ReversibleSideEffect;
  readonly rollbackLayer: RollbackLayer;
  readonly status: ReversibleStatus;
  readonly message: string;
};

export type ReversibleCall = {
  readonly toolName: string;
  readonly input?: unknown;
  /** What the tool says about itself; of a tool without facts its name may tell. */
  readonly facts?: ToolFacts | undefined;
  /** Checkpoints are taken of what tools change that change files. */
  readonly checkpointed: boolean;
  readonly options: ReversibleExecutionOptions;
};

const fileMutations = ["Write", "Edit", "NotebookEdit", "apply_patch"];
const shellProcesses = ["Shell", "Bash", "BackgroundProcess"];
const readOnly = ["Read", "Glob", "Grep", "WebFetch", "WebSearch", "TodoWrite"];

/** Whether what a call does could be undone, and by what. Pure: it asks nobody and runs nothing. */
export function evaluateReversibleSafety({
  toolName,
  input,
  facts,
  checkpointed,
  options,
}: ReversibleCall): ReversibleSafetyReport {
  const isolation = options.isolation ?? "none";
  const sideEffect = facts ? effectOf(facts) : sideEffectOf(toolName);
  const report = (status: ReversibleStatus, rollbackLayer: RollbackLayer, message: string): ReversibleSafetyReport => {
    return {
      toolName,
      reversible: status === "reversible" || status === "read-only",
      sideEffect,
      rollbackLayer,
      status,
      message,
    };
  };
  if (sideEffect === "none") return report("read-only", "none", `${toolName} changes nothing, so there is nothing to undo.`);
  if (isolation !== "none" && sideEffect !== "unknown")
    return report("reversible", isolation, `${toolName} works in a ${isolation}, which can be thrown away.`);

  switch (sideEffect) {
    case "file-mutation":
      return checkpointed
        ? report("reversible", "edit-checkpoint", `What ${toolName} changes is kept in a checkpoint first.`)
        : report(
            "requires-checkpoint",
            "none",
            `${toolName} changes files, and no checkpoints are taken here: turn them on, or run in a worktree or sandbox.`,
          );
    case "shell-process":
      return report(
        "requires-isolation",
        "none",
        `${toolName} can change anything, and checkpoints do not cover it: run in a worktree or sandbox.`,
      );
    case "subagent":
      return asksForWorktree(input)
        ? report("reversible", "worktree", `${toolName} works in a worktree of its own, which can be thrown away.`)
        : report(
            "requires-isolation",
            "none",
            `${toolName} starts agents that can change anything: give each of them isolation "worktree", or run in a worktree or sandbox.`,
          );
    case "unknown":
      return report("unknown", "none", `What ${toolName} changes is not known, so it may not be possible to undo it.`);
  }
}

/** The call must not run. */
export function isBlockedByReversibility({ status }: ReversibleSafetyReport, options: ReversibleExecutionOptions): boolean {
  if (status === "unknown") return options.enforceUntrackedSideEffects ?? false;
  return status === "requires-checkpoint" || status === "requires-isolation";
}

function effectOf({ kind, startsAgents }: ToolFacts): ReversibleSideEffect {
  if (startsAgents) return "subagent";
  if (kind === "edit") return "file-mutation";
  return kind === "run" ? "shell-process" : "none";
}

function sideEffectOf(toolName: string): ReversibleSideEffect {
  if (readOnly.includes(toolName)) return "none";
  if (fileMutations.includes(toolName)) return "file-mutation";
  if (shellProcesses.includes(toolName)) return "shell-process";
  return toolName === "Agent" || toolName === "Task" ? "subagent" : "unknown";
}

/** One job, or every job of a batch. */
function asksForWorktree(input: unknown): boolean {
  if (!isFields(input)) return false;
  if (Array.isArray(input["jobs"]) && input["jobs"].length > 0) return input["jobs"].every(asksForWorktree);
  return input["isolation"] === "worktree";
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
