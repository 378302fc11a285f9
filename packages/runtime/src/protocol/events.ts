import type {
  AssistantMessage,
  PartPlace,
  JsonObject,
  JsonValue,
  ModelRef,
  ToolDefinition,
  ToolResultPart,
  Usage,
  UserMessage,
} from "./content.ts";
import type { ErrorData } from "./errors.ts";
import type { BackgroundTaskActivity, BackgroundTaskState } from "./background-task.ts";
import type { BackgroundJobGroupState } from "./job-group.ts";
import type { CancelCause, Outcome } from "./outcome.ts";
import type { PermissionMode } from "./permission.ts";

/** `denied`: a rule or mode refused it. `interrupted`: an abort cut it off; the content is what had come by then. */
export type ToolStatus = "ok" | "error" | "denied" | "interrupted";

/** What a tool tells front ends beside its words for the model. */
export type ToolDetails = {
  /** The file a Write or Edit changed, with the lines that changed. */
  file?: string;
  diff?: DiffLine[];
  /** It was not there before. */
  created?: boolean;
  /** It is not there any more. */
  removed?: boolean;
  /** Further files that the same call changed. */
  others?: { file: string; diff: DiffLine[]; created?: boolean; removed?: boolean }[];
  /** Of the file a Read showed, as far as it is known. */
  totalLines?: number;
  exitCode?: number;
  /** The skill that was put to work. */
  skill?: string;
  /** The subagent whose work the skill was. */
  forkedTaskId?: string;
  /** The task that goes on after the call. */
  backgroundTaskId?: string;
  /** Where the whole output is when the model saw a shortened one. */
  fullOutputPath?: string;
  /** How long that is. */
  fullOutputBytes?: number;
  /** Instruction files of folders below the working directory that came in with this result. */
  instructions?: readonly { readonly path: string; readonly bytes: number }[];
  /** The file it was about brought skills that nobody could type before. */
  moreSkills?: true;
  /** What programs are told of the result, in the shape that they know from Claude Code; where `content` is null, it is the result's words. */
  told?: JsonObject;
  /** The plan that was approved; `isAgent`: a subagent's. */
  plan?: string;
  isAgent?: boolean;
  /** Questions that were put to the user, and what was answered, by question. */
  questions?: JsonValue;
  answers?: JsonObject;
  /** What an MCP tool answered for programs, beside its words. */
  structuredContent?: JsonObject;
  /** Why a call was not run where only what can be undone may be. */
  reversibleSafety?: {
    readonly toolName: string;
    readonly reversible: boolean;
    readonly sideEffect: string;
    readonly rollbackLayer: string;
    readonly status: string;
    readonly message: string;
  };
};

/** `run`: nobody wanted to wait for it any longer. */
export type TaskStopper = "model" | "user" | "run";

export type DiffLine = { type: "hunk" | "context" | "remove" | "add"; text: string; line?: number };

/** A checkout of its own in which an agent works, and what is in it beyond the commit `base`. */
export type WorktreeFacts = {
  readonly name: string;
  readonly path: string;
  readonly branch: string;
  readonly base: string;
  /** `unchanged` goes when the work ends, `kept` stays. */
  readonly status: "unchanged" | "kept";
  readonly commits: readonly { readonly id: string; readonly subject: string }[];
  readonly changed: number;
  readonly untracked: number;
  readonly ignored: number;
  /** Changed files of the user's own checkout, which are not in this one. */
  readonly parentChanges: number;
  /** All of this in words, with what can be done next. */
  readonly summary: string;
};

/** A refusal in the words of the result frame. */
export type Denial = { callId: string; tool: string; input: unknown; reason: string };

/**
 * The vocabulary: `subject.verb`. Lifecycles use exactly `started`, `delta`/`progress`, `ended`.
 * `ended` carries the whole final value, so a reader may ignore every delta.
 */
export interface AgentEvents {
  /** Once per opening of a session by a writer; `resumed` when there was history. */
  "session.started": SessionFacts & {
    journalVersion: 1 | 2;
    resumed: boolean;
    system: string;
    toolDefinitions: ToolDefinition[];
    /** The session it was copied from, up to and with the event `seq`. */
    forkedFrom?: { sessionId: string; seq: number };
  };
  "session.named": { name: string };
  /** The session goes on from the event `to`: what came after it is kept, and is no part of the conversation any more. */
  "session.rewound": { to: number };
  /**
   * A prompt that has to wait, or that has a key: stored before anybody is told that it was accepted. It begins once, with the `turn.started`
   * whose `turnId` is its `promptId`, or with the `input.added` that names it. A prompt that begins at once is only told by that.
   */
  "prompt.accepted": {
    promptId: string;
    mode: PromptMode;
    key?: string;
    input: UserMessage;
    displayInput?: string;
    maxTurns?: number;
    /** What hooks said to it. With a `refusal` its text was not kept, and its turn ends as it begins. */
    admission?: { notes: UserMessage[]; refusal?: string };
  };
  /** It will never begin. */
  "prompt.cancelled": { promptId: string; cause: CancelCause };
  /**
   * With `command` the prompt was for the session itself, and is no part of the conversation. With `tasks` nobody asked: the session tells the
   * model that these tasks have ended.
   */
  "turn.started": { input: UserMessage; displayInput?: string; command?: string; tasks?: string[] };
  /** The host chose another model, mode or set of tools; what is not named stays. */
  "session.changed": Partial<
    Pick<SessionFacts, "model" | "permissionMode" | "tools" | "places" | "agents" | "plugins" | "pluginErrors">
  >;
  /** Input that joined a running turn by itself: a nudge to go on after a cut, empty or unfitting answer, or what a hook adds. */
  "input.added": {
    input: UserMessage;
    origin: "continuation" | "empty-answer" | "output-schema" | "hook" | "user" | "skill" | "task" | "file" | "parent";
    /** The accepted prompt that this is. */
    promptId?: string;
    /** The tasks whose end this tells. */
    tasks?: string[];
  };
  /** What a prompt names with `@`, and what became of each. What was read of it follows as input of the origin `file`. */
  "references.read": { references: ReferenceRecord[] };
  /** Files that every prompt brings along from here on, absolute: the model is shown them when they are new or have changed. */
  "context.referenced": { active: string[] };
  "text.delta": { messageId: string; text: string };
  /** `signature` is a piece of the seal some providers put under a thought; its text is empty then. */
  "reasoning.delta": { messageId: string; text: string; signature?: string };
  "tool-input.delta": { messageId: string; callId: string; name: string; json: string };
  /** A provider call failed and is tried again. Every delta of `messageId` so far is void. */
  "retry.scheduled": { messageId: string; attempt: number; maxRetries: number; delayMs: number; error: ErrorData };
  /** The same, but another model is asked instead. */
  "fallback.used": { messageId: string; from: string; to: string; error: ErrorData };
  /** `firstTokenMs`: from asking to the first piece of this answer; absent where it came in one. */
  "message.ended": {
    messageId: string;
    message: AssistantMessage;
    durationMs: number;
    requestedModel: string;
    firstTokenMs?: number;
  };
  /** Stored before the tool does anything: after a crash, a start without an end means "outcome unknown". */
  "tool.started": {
    callId: string;
    name: string;
    input: unknown;
    /** Of a call that starts programs: what becomes of them when the run is killed. `may-run`: some may live on. */
    processes?: "ended" | "may-run";
  };
  /** What a running tool says of itself; without text, that it still runs. */
  "tool.progress": { callId: string; text: string };
  "tool.ended": {
    callId: string;
    name: string;
    status: ToolStatus;
    result: ToolResultPart;
    /** How many parts at the end of the result's content are not the tool's: what hooks and this program add for the model. */
    notes?: number;
    durationMs: number;
    details?: ToolDetails;
  };
  /** `rule` is one that would allow exactly this. */
  "permission.requested": {
    requestId: string;
    callId: string;
    tool: string;
    input: unknown;
    reason: string;
    rule?: string;
    by?: "hook";
  };
  "permission.resolved": { requestId: string; callId: string; decision: "allow" | "deny"; by: "policy" | "user"; reason: string };
  /** The verdict on a call, after hooks, rules, mode and the answer of the person or tool that was asked; `source` is the file or flag the rule was written in. */
  "permission.decided": {
    callId: string;
    tool: string;
    effect: "allow" | "deny";
    by: "rule" | "mode" | "hook" | "user" | "policy" | "grant";
    reason: string;
    rule?: string;
    source?: string;
    /** The answer that refuses the call ends the turn too. */
    endsTurn?: true;
  };
  /** One run of one hook; `background` ones may end after their turn. */
  "hook.started": { hookId: string; event: HookEventName; name: string; callId?: string; background: boolean };
  "hook.ended": {
    hookId: string;
    event: HookEventName;
    name: string;
    callId?: string;
    /** `blocked`: it said no. `failed` and `timeout`: it could not say anything, and `onFailure` decided. */
    status: "ok" | "blocked" | "failed" | "timeout" | "cancelled";
    exitCode?: number;
    stdout: string;
    stderr: string;
    durationMs: number;
  };
  /** Settings of a project nobody has said to trust, left out because they would run something or loosen something. */
  "settings.ignored": { items: string[]; hint: string };
  "context.updated": { usedTokens: number; maxTokens: number };
  /** Old tool results left the context: among its first `through` messages, each note stands where that call's result stood. */
  "context.cleared": { through: number; results: { callId: string; note: string }[]; preTokens: number; postTokens: number };
  /** The provider refused a request because of these parts: the note stands in their places from here on. */
  "parts.refused": { parts: PartPlace[]; note: string };
  /** How the summary is asked for can be told from this and the events before: `replaced` messages, in parts of `chunkTokens`. */
  "compaction.started": {
    compactionId: string;
    trigger: CompactionTrigger;
    usedTokens: number;
    maxTokens: number;
    replaced: number;
    chunkTokens: number;
    summaryTokens: number;
    focus?: string;
  };
  "compaction.ended": {
    compactionId: string;
    trigger: CompactionTrigger;
    preTokens: number;
    durationMs: number;
    result: CompactionResult;
  };
  /**
   * A subagent is about to begin; what it does follows in events with its `taskId`. What it was told, and which of the session's tools
   * and which mode it has, is on record, so that its requests can be told from the journal.
   */
  "task.started": {
    taskId: string;
    /** The call that started it. */
    callId: string;
    agent: string;
    description: string;
    prompt: string;
    model: ModelRef;
    system: string;
    tools: string[];
    permissionMode: PermissionMode;
    /** Another name by which it can be told something. */
    name?: string;
    /** Of this run of it: an agent that is told more after its end runs again under its own id. */
    runId?: string;
    /** The call that started it did not wait for it. */
    background?: true;
    /** Where people can read along. */
    outputFile?: string;
  };
  /** The subagent's own; what it used is also in the events before, answer by answer. */
  "task.ended": { taskId: string; callId: string; outcome: Outcome; usage: Usage; modelCalls: number; durationMs: number };
  /**
   * Work beside the conversation, which may outlive its turn. `created` is stored before anything of it happens. `idle`: no task of the session
   * is open after this, and none has ended that the model was not told of.
   */
  "background.created": { task: BackgroundTaskState };
  "background.started": { task: BackgroundTaskState };
  "background.updated": { task: BackgroundTaskState; idle?: true };
  "background.ended": { task: BackgroundTaskState; idle?: true /** Who stopped one that was cancelled. */; by?: TaskStopper };
  /** Nobody can ask for it any more. */
  "background.closed": { id: string };
  /** Tasks that belong together: that there is such a group, that one more of its tasks has ended, that it is over. */
  "group.created": { group: BackgroundJobGroupState };
  "group.updated": { group: BackgroundJobGroupState };
  "group.ended": { group: BackgroundJobGroupState };
  /** The latest of what it printed or said; its log has all of it. */
  "background.delta": { id: string; text: string };
  /** What else it does: a call it makes, a question it asks, that its time has come. */
  "background.activity": { id: string; activity: BackgroundTaskActivity };
  /** A model was asked for something beside the conversation; it costs like any other answer. */
  "side-call.ended": { purpose: "compaction" | "hook"; message: AssistantMessage; requestedModel: string; durationMs: number };
  /** A file is about to be changed and no copy of it could be kept: this change cannot be undone. */
  "checkpoint.skipped": { checkpointId: string; path: string; reason: "too-large" | "special" | "unreadable" | "git" };
  /** Files were put back; the change is itself a checkpoint. `commandCount`: shell commands whose effects were not undone. */
  "checkpoint.restored": {
    checkpointId: string;
    kind: "restore" | "rollback";
    target: string;
    files: string[];
    leftAlone: string[];
    commandCount: number;
  };
  /**
   * A step of a trajectory that the session begins with, as its writer told it: pictures are in it as base64 (`source.data`).
   * What a model is shown of it follows in events of its own.
   */
  "step.imported": { step: JsonObject };
  /** The session, or the subagent with this `taskId`, works in a worktree of its own: what it holds as a turn ends there. */
  "worktree.inspected": WorktreeFacts;
  /**
   * A skill is used: `started` is on record before any of its commands runs, and what follows says how that went. A start without an end means
   * "outcome unknown". Without this event no skill is at work.
   */
  "skill.activated": SkillActivation;
  /** A command asks whoever started it something; `session.answerInteraction` answers. With nobody to answer it is cancelled at once. */
  "interaction.requested": { interactionId: string; command: string; prompt: unknown };
  /** `unfit`: the answer was not one of those that are possible, and it may be asked again. */
  "interaction.resolved": { interactionId: string; status: "answered" | "unfit" | "cancelled" };
  /** Something of the project's memory was written, decided on or looked at; what it says is in its files. */
  "memory.noted": MemoryNote;
  /** `hook`: whose words it are, such as `PostToolUse:Bash`. */
  "warning.raised": { message: string; hook?: string };
  /** Always the last event of its turn; everything before it is stored. */
  "turn.ended": { outcome: Outcome; usage: Usage; modelCalls: number; durationMs: number; modelDurationMs: number };
  /** `sandboxSnapshotId`: the state in which the other machine was left; resuming brings it back. */
  "session.ended": { reason: string; sandboxSnapshotId?: string };
}

export type MemoryNote = {
  action: "added" | "proposed" | "approved" | "rejected" | "used";
  topic: string;
  memoryType?: "user" | "feedback" | "project" | "reference";
  /** Of what waited for a person's word. */
  id?: string;
};

export type ReferenceRecord = {
  /** As it is written behind the `@`. */
  reference: string;
  /** The file, absolute, or `SERVER:ADDRESS` of a resource. */
  path: string;
  /** 1 in the prompt itself, 2 in a file that the prompt names. */
  depth: number;
  /** Of the file; 0 where that is not known. */
  byteLength: number;
  status: "read" | "left-out";
  /** Why it was left out. */
  reason?: string;
};

export type SkillActivation = {
  activationId: string;
  skillName: string;
  source: "skill" | "plugin";
  /** `agent`: a subagent knows it from its beginning. */
  invocation: "user-slash" | "model-tool" | "agent";
  mode: "inject" | "fork";
  status: "started" | "completed" | "failed";
  /** With `started`: what its text wants to be run. */
  commands?: string[];
  qualifiedName?: string;
  error?: string;
};

/** `queue`: after the running turn. `steer`: into the running turn, before the model is asked again. `now`: the running turn ends for it. */
export type PromptMode = "queue" | "steer" | "now";

/** `auto`: the context was nearly full. `overflow`: the provider had refused a request as too long. */
export type CompactionTrigger = "auto" | "manual" | "overflow";

export type CompactionResult =
  /** Everything a projection needs: the first `replaced` messages give way to one, and the prompt among them stays. */
  | {
      type: "compacted";
      replaced: number;
      /** Where the last prompt stood, when it is one of the replaced messages. */
      prompt?: number;
      /** The words around the summary: what it is, and that it gives no orders. */
      preface: string;
      summary: string;
      /** What was taken word for word from the messages: open tasks, failing commands, changed files, what the user said. */
      kept?: string;
      /** Instructions of skills that were at work, as they were shown last. */
      skills?: { name: string; text: string }[];
      /** Files that were in use, as they were at that moment. */
      files: { path: string; text: string }[];
      postTokens: number;
    }
  /** A hook said no. */
  | { type: "refused"; reason: string }
  | { type: "cancelled" }
  | { type: "failed"; error: ErrorData };

export type HookEventName =
  | "PreToolUse"
  | "PostToolUse"
  | "PostToolUseFailure"
  | "PostToolBatch"
  | "UserPromptSubmit"
  | "UserPromptExpansion"
  | "Setup"
  | "SessionStart"
  | "SessionEnd"
  | "Stop"
  | "StopFailure"
  | "InstructionsLoaded"
  | "SubagentStart"
  | "SubagentStop"
  | "PreCompact"
  | "PostCompact"
  | "PermissionRequest"
  | "Notification"
  | "WorktreeCreate"
  | "WorktreeRemove"
  | "TaskCreated"
  | "TaskCompleted"
  | "Elicitation"
  | "ElicitationResult"
  | "CwdChanged";

export type SessionFacts = {
  cwd: string;
  model: ModelRef;
  tools: string[];
  permissionMode: PermissionMode;
  version: string;
  /** Where settings came from: `user`, `project`, `local`, `flag`; absent in records of older versions. */
  settingSources?: string[];
  /** Whether hooks, servers and allow rules of the project count, and why; absent when it has none. */
  projectTrust?: { trusted: boolean; reason: string };
  /** AGENTS.md, CLAUDE.md and what they import, in the order of the system prompt; absent when there are none. */
  instructionFiles?: { path: string; bytes: number }[];
  /** What boxes commands in: `bubblewrap`, `client` for another machine, `none`; absent in records of older versions. */
  sandbox?: string;
  /** Where commands run on this machine, in the mode of the moment; absent when they run on another one. */
  places?: {
    /** `unasked`: what nothing but the mode lets run is boxed, the rest runs outside, as the user. */
    boxed: "everything" | "unasked" | "nothing";
    /** Of commands in the box; `open` when nothing is boxed. */
    network: "none" | "domains" | "open";
    /** Names of the variables that a command does not get which nothing but the mode lets run. */
    withheld: string[];
    /** Why there is no box. */
    reason?: string;
  };
  /** The commit of the folder's git repository when the session began; absent where there is none, and where nobody looked. */
  commit?: string;
  /** Where a copy in another layout is kept; absent when none is. */
  transcriptPath?: string;
  /** The style of answers that the user has chosen; absent for ours. */
  outputStyle?: string;
  /** The kinds of subagents the model may start; absent when it may start none. */
  agents?: string[];
  /** Bundles of skills, agents, hooks and servers that count; absent when there are none. */
  plugins?: PluginFact[];
  /** Bundles that were wanted and could not be loaded. */
  pluginErrors?: { plugin: string; type: string; message: string; path: string }[];
};

export type PluginFact = { name: string; path: string; source: string; version?: string };

export type EventType = keyof AgentEvents;

/** Filled in by the hub, never by the code that emits. */
export type EventEnvelope = {
  seq: number;
  at: string;
  sessionId: string;
  turnId?: string;
  /** Set on everything a subagent does: it is no part of the conversation. */
  taskId?: string;
  /** Taken over from a session that was held elsewhere: what its lines are called there. */
  importedAs?: string[];
};

export type EventBody<T extends EventType = EventType> = { [K in T]: { type: K } & AgentEvents[K] }[T];
export type AgentEvent<T extends EventType = EventType> = { [K in T]: EventEnvelope & { type: K } & AgentEvents[K] }[T];

/** Code inside the runtime tells what happened with `emit`; code outside reads it with `for await`. */
export type Emit = (event: EventBody) => void;

const ephemeral: ReadonlySet<EventType> = new Set<EventType>([
  "text.delta",
  "reasoning.delta",
  "tool-input.delta",
  "tool.progress",
  "background.delta",
  "background.activity",
]);

/** Deltas and progress are for watching; they are never stored and never replayed. */
export function isEphemeral(type: EventType): boolean {
  return ephemeral.has(type);
}
