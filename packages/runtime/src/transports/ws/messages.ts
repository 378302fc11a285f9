import type { CommandResult, CommandSummary } from "../../commands/command.ts";
import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import type { AssistantMessage, JsonObject, Message, UserMessage } from "../../protocol/content.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import type { PromptMode, SkillActivation } from "../../protocol/events.ts";
import type { PermissionMode } from "../../protocol/permission.ts";
import type { BackgroundJobGroupEvent, BackgroundJobGroupState } from "../../protocol/job-group.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { CompactionReport, ContextState, HistoryEntry, ToolState } from "../../session/past/history.ts";
import type { ExecutionResult, SessionEvents } from "../../session/session-view.ts";

type Session = InteractiveSession<unknown>;
export type TaskFilter = NonNullable<Parameters<Session["listBackgroundTasks"]>[0]>;
export type TaskLogCursor = NonNullable<Parameters<Session["readBackgroundTaskLog"]>[1]>;
type TaskLogPage = Awaited<ReturnType<Session["readBackgroundTaskLog"]>>;
type TaskEvent = Parameters<SessionEvents["background_task_event"]>[0];

/** An image of a prompt; `data` is base64. */
export type PromptImage = { readonly mediaType: string; readonly data: string };

/** What a task is told: words for an agent, or what a program reads from stdin. */
export type TaskInput = string | { readonly prompt?: string; readonly stdin?: string };

/** Chosen by the client; what answers the request has the same. */
export type RequestId = string | number;

/** What a client may ask for, by `type`, without the `id`. */
export type ClientRequests = {
  /** `key`: the same key again is the same prompt, and nothing runs twice. */
  submit: { prompt: string; mode?: PromptMode; key?: string; images?: readonly PromptImage[] };
  command: { name: string; args?: string };
  abort: unknown;
  "cancel-queue": unknown;
  "get-messages": unknown;
  "get-context": unknown;
  "get-executing": unknown;
  "get-pending": unknown;
  "get-background-tasks": { filter?: TaskFilter };
  "get-background-task": { taskId: string };
  "cancel-background-task": { taskId: string; reason?: string };
  "close-background-task": { taskId: string };
  "send-background-task": { taskId: string; input: TaskInput };
  "read-background-task-log": { taskId: string; cursor?: TaskLogCursor };
  "get-background-job-groups": unknown;
  "get-background-job-group": { groupId: string };
  "wait-background-job-group": { groupId: string };
  /** Answers a `permission_request`. */
  "permission-response": {
    requestId: string;
    decision: "allow" | "deny";
    message?: string;
    remember?: "session" | "project";
    updatedInput?: JsonObject;
    interrupt?: boolean;
  };
  /** Answers an `ask_request`; without a value it is cancelled. */
  "ask-response": { requestId: string; value?: string };
  /** Takes back a prompt that has not begun. */
  "cancel-prompt": { promptId: string };
  "get-commands": unknown;
};

export type ClientMessageType = keyof ClientRequests;

export type ClientMessage = {
  [T in ClientMessageType]: { readonly type: T; readonly id?: RequestId } & Readonly<ClientRequests[T]>;
}[ClientMessageType];

/** How a turn went. `history` has the entries of this turn, or of the whole session where the server was told to send that. */
export type TurnResult = Omit<ExecutionResult, "history"> & { readonly history: readonly HistoryEntry[] };

/** What happened, by `type`. */
export type ServerEvents = {
  text_delta: { delta: string };
  tool_start: { state: ToolState };
  tool_end: { state: ToolState };
  thinking: { isThinking: boolean };
  complete: { result: TurnResult };
  interrupted: { result: TurnResult };
  error: { message: string; code: ErrorCode; retryable: boolean; hint?: string };
  background_task_event: { event: TaskEvent };
  background_job_group_event: { event: BackgroundJobGroupEvent };
  /** A turn begins with this, or somebody steers it. */
  user_message: { message: UserMessage; displayInput?: string };
  /** The whole answer whose pieces came as deltas: whoever missed some has all of it here. */
  message_end: { messageId: string; message: AssistantMessage };
  /** The deltas of this answer so far are void: the model is asked again. */
  message_void: { messageId: string };
  context_update: { state: ContextState };
  compact: { report: CompactionReport };
  skill_activation: { activation: SkillActivation };
  prompt_queued: { promptId: string; mode: PromptMode; message: UserMessage; displayInput?: string };
  prompt_cancelled: { promptId: string };
  /** Whoever may answer gets the input as it would be run; whoever only watches gets it masked. */
  permission_request: {
    requestId: string;
    toolCallId: string;
    toolName: string;
    input: unknown;
    reason: string;
    rule?: string;
    taskId?: string;
  };
  ask_request: { requestId: string; command: string; prompt: unknown };
  /** A `permission_request` or an `ask_request` is answered, by whomever. */
  prompt_resolved: {
    requestId: string;
    kind: "permission" | "ask";
    resolution: "allow" | "deny" | "answered" | "unfit" | "cancelled";
    by?: "policy" | "user";
  };
  session_started: { cwd: string; model: { provider: string; id: string }; permissionMode: PermissionMode; resumed: boolean };
  session_renamed: { name: string };
  history_cleared: { to: number };
  warning: { message: string };
  session_ended: { reason: string };
};

/** What a request is answered with, by `type`. */
export type ServerReplies = {
  command_result: { name: string; message: string; success: boolean; data?: CommandResult["data"] };
  messages: { messages: readonly Message[] };
  context: { state: ContextState };
  executing: { executing: boolean };
  pending: { pending: string | null };
  background_tasks: { tasks: readonly BackgroundTaskState[] };
  background_task: { taskId: string; task: BackgroundTaskState | null };
  background_task_log: { taskId: string; page: TaskLogPage };
  background_job_groups: { groups: readonly BackgroundJobGroupState[] };
  background_job_group: { groupId: string; group: BackgroundJobGroupState | null };
  background_task_control_result: { action: "cancel" | "close" | "send"; taskId: string; success: boolean; message?: string };
  protocol_error: { message: string; code: ErrorCode };
  /** The prompt is on record; its turn is called `turnId`. Only for a `submit` with an `id` or a `key`. */
  accepted: { turnId: string; repeated: boolean };
  /** Done. Only for a request with an `id` that has no other answer. */
  ok: unknown;
  commands: { commands: readonly CommandSummary[] };
};

/**
 * One event as it is sent. `seq` is there when it is stored: a client that comes back says which was the last it saw. Of several messages of one
 * event the last has it.
 */
export type ServerEvent = {
  [T in keyof ServerEvents]: { readonly type: T; readonly seq?: number; readonly turnId?: string } & Readonly<ServerEvents[T]>;
}[keyof ServerEvents];

/** An answer before it gets the `id` of its request. */
export type ServerReply = {
  [T in keyof ServerReplies]: { readonly type: T; readonly id?: RequestId } & Readonly<ServerReplies[T]>;
}[keyof ServerReplies];

/** Where the session stands, for a client whose position is none of this session's. */
export type Resync = {
  readonly type: "resync";
  readonly seq: number;
  readonly messages: readonly Message[];
  readonly state: ContextState;
  readonly executing: boolean;
  readonly pending: string | null;
  readonly tasks: readonly BackgroundTaskState[];
};

export type ServerMessage = ServerEvent | ServerReply | Resync;
