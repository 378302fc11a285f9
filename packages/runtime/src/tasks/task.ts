import type { Usage } from "../protocol/content.ts";
import type { Denial, WorktreeFacts } from "../protocol/events.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { AgentDefinition } from "./agent-definition.ts";

/** Work for a subagent. */
export type TaskSpec = {
  /** The call that starts it. */
  readonly callId: string;
  readonly agent: AgentDefinition;
  /** A few words for people who watch. */
  readonly description: string;
  readonly prompt: string;
  /** Takes the place of the agent's own. */
  readonly model?: string;
  /** It works in a checkout of its own, which stays if something was done in it. */
  readonly isolation?: "worktree" | undefined;
  /** Another folder than the session's to work in: paths, rules, the box and checkpoints are then those of that folder. */
  readonly root?: string | undefined;
};

export type TaskEnd = {
  readonly outcome: Outcome;
  readonly usage: Usage;
  readonly modelCalls: number;
  readonly durationMs: number;
  /** Where it worked, if in a worktree of its own. */
  readonly worktree?: WorktreeFacts | undefined;
  /** Calls it was not permitted. */
  readonly denials: readonly Denial[];
};

export type StartedTask = {
  readonly taskId: string;
  /** Rejects only when the task could not begin, with a reason for the model; how it went is the outcome. */
  readonly ended: Promise<TaskEnd>;
};

/** What a tool needs to have work done beside its own turn. The session binds it to the engine. */
export interface Tasks {
  start(spec: TaskSpec): StartedTask;
}
