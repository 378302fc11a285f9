import type { BackgroundTaskMetadata, BackgroundTaskState } from "../protocol/background-task.ts";
import type { Usage } from "../protocol/content.ts";
import type { Denial, WorktreeFacts } from "../protocol/events.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { OutputChunk, RunningProcess } from "../workspace/workspace.ts";
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
  readonly model?: string | undefined;
  /** Takes the place of the agent's own. */
  readonly effort?: AgentDefinition["effort"] | undefined;
  /** Another name by which it can be told something. */
  readonly name?: string | undefined;
  /** It works in a checkout of its own, which stays if something was done in it. */
  readonly isolation?: "worktree" | undefined;
  /** Another folder than the session's to work in: paths, rules, the box and checkpoints are then those of that folder. */
  readonly root?: string | undefined;
};

/** More work for a subagent that there was: it goes on with all it knew. */
export type ResumeSpec = {
  readonly callId: string;
  /** Its id, or the name it was given. */
  readonly agentId: string;
  readonly prompt: string;
  readonly description?: string | undefined;
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
  /** Agents that can be told something later, and those that nobody waits for; absent where there are none. */
  agents?(): Promise<AgentTasks>;
  /** Work that goes on after the call; absent where there is none. */
  background?(): Promise<BackgroundTasks>;
}

/** Agents that go on after the call that started them. Ids nobody knows are refused with words for the model. */
export interface AgentTasks {
  /** Resolves when it works or waits for others; rejects when it cannot begin, with a reason for the model. */
  startInBackground(spec: TaskSpec): Promise<BackgroundTaskState>;
  /** Somebody waits for it. Refused while it runs. */
  resume(spec: ResumeSpec): Promise<StartedTask>;
  /** Nobody waits for it. */
  resumeInBackground(spec: ResumeSpec): Promise<BackgroundTaskState>;
  /** Tells an agent something: `heard` reads it with its next request, `resumed` had ended and works again in the background. */
  send(spec: ResumeSpec): Promise<{ readonly how: "heard" | "resumed"; readonly task: BackgroundTaskState }>;
}

/** A program that is to go on after the call that started it. */
export type ProcessSpec = {
  readonly callId: string;
  readonly command: string;
  /** A few words for people who watch. */
  readonly label: string;
  readonly cwd: string;
  /** It is ended after so long. */
  readonly maxRuntimeMs?: number | undefined;
  /** A regular expression: lines that it matches wake the model. */
  readonly matchPattern?: string | undefined;
  /** Starts it where the call was allowed to. */
  readonly start: (hooks: ProcessHooks) => Promise<RunningProcess>;
  /** Called where it is ended before `start` was: what runs already is not forgotten. */
  readonly drop?: (() => void) | undefined;
};

export type ProcessHooks = { readonly takesInput: true; readonly onOutput: (chunk: OutputChunk) => Promise<void> };

/** Something that is to be told to the model later. */
export type ScheduleSpec = {
  readonly callId: string;
  /** A few words for people who watch. */
  readonly label: string;
  /** As `ScheduledTaskRequest` has it. */
  readonly cronExpression: string;
  readonly recurring: boolean;
  readonly instruction: string;
  readonly cwd: string;
  /** What is kept with the task. */
  readonly metadata?: BackgroundTaskMetadata | undefined;
};

/** What to wait for: that the task ends, that it prints anything more, or a line of which `matches` says yes. */
export type TaskWait = {
  readonly until: "now" | "end" | "output" | ((lines: readonly string[]) => boolean);
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/** What a task printed since it was last asked about; the beginning is left out where that is too much. */
export type TaskNews = {
  readonly task: BackgroundTaskState;
  readonly text: string;
  readonly omittedBytes: number;
  /** Why the wait was over. */
  readonly because: "asked" | "ended" | "output" | "timeout" | "aborted";
};

/** The tasks of a session, for its tools. Ids nobody knows are refused with words for the model. */
export interface BackgroundTasks {
  startProcess(spec: ProcessSpec): Promise<BackgroundTaskState>;
  /** Refused with words for the model when it is no schedule. */
  schedule(spec: ScheduleSpec): Promise<BackgroundTaskState>;
  get(taskId: string): BackgroundTaskState;
  list(): BackgroundTaskState[];
  /** Whoever is told that a task has ended is not told again. */
  news(taskId: string, wait: TaskWait): Promise<TaskNews>;
  send(taskId: string, input: string): Promise<void>;
  /** Resolves when nothing of it is left. */
  stop(taskId: string, reason: string): Promise<BackgroundTaskState>;
}
