import type { Hooks } from "../hooks/hook.ts";
import type { NestedState, SkillsOfFiles } from "../context/nested-state.ts";
import type { Fit } from "../context/fit.ts";
import type { MaskedRequest } from "../model/model.ts";
import type { CountedProvider } from "../model/request-ledger.ts";
import type { PermissionGate } from "../permissions/gate.ts";
import type { GrantScope } from "../permissions/grants.ts";
import type { Policy } from "../permissions/policy.ts";
import type { Action } from "../permissions/rules.ts";
import type { JsonValue, UserMessage } from "../protocol/content.ts";
import type { AgentEvents, Emit, EventBody, ToolDetails } from "../protocol/events.ts";
import type { DeferredCall } from "../protocol/outcome.ts";
import type { Tasks } from "../tasks/task.ts";
import type { DeferredTools, SkillUses, Tool, ToolMemory } from "../tools/tool.ts";
import type { Redactor } from "../util/redact.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ChangeKeeper } from "./kept-changes.ts";
import type { LiveCall } from "./live-call.ts";
import type { LoopLimits, RepeatedCalls } from "./repeated-calls.ts";
import type { AnswerSchema } from "./structured-output.ts";

/** What stays the same for a session, or for a subagent of it. */
export type SessionDeps = ModelDeps & ToolDeps & PermissionDeps & SharedDeps;

/** Asking the model, and for how long. */
export type ModelDeps = {
  /** Its ledger says before each request whether there may be one. */
  readonly provider: CountedProvider;
  /** Everything a request holds but its messages; the same for every request of a turn. */
  readonly request: Omit<MaskedRequest, "messages">;
  /** Tokens that fit into one request together with its answer. */
  readonly contextWindow: () => Promise<number>;
  /** How often the model may be asked in one turn. */
  readonly maxTurns: number | undefined;
  readonly loops: LoopLimits;
  readonly answerSchema: AnswerSchema | undefined;
};

/** Running what the model calls. */
export type ToolDeps = {
  readonly tools: ReadonlyMap<string, Tool>;
  /** Other names for tools: a call by such a name is one of the tool it stands for. */
  readonly toolAliases?: Readonly<Record<string, string>> | undefined;
  readonly workspace: Workspace;
  readonly memory: ToolMemory;
  readonly deferredTools?: DeferredTools | undefined;
  readonly outputLimit: number;
  /** Where a call stands in a trace, for the programs and servers it uses; absent where nobody traces. */
  readonly traceparent?: ((callId: string, taskId?: string) => string | undefined) | undefined;
  /** Instructions of folders below, which come in when a file there is touched; absent where those of projects do not count. */
  readonly nested?: NestedState | undefined;
  /** Skills that the model is told of when it comes to files they are about. */
  readonly skillsOfFiles?: SkillsOfFiles | undefined;
};

/** Deciding whether a call may be made. */
export type PermissionDeps = {
  /** Read for each call: the mode may change between two of them. */
  readonly policy: () => Policy;
  readonly gate: PermissionGate;
  /** Somebody is there to answer permission questions; else policy answers no, at once. */
  readonly answerable: boolean;
  /** Keeps a yes to these that was meant to last, and answers what it covers. */
  readonly remember?: ((actions: readonly Action[], scope: GrantScope) => Promise<readonly string[]>) | undefined;
  /** Changes rules and mode as a hook's answer wants it; answers what was not done as asked. */
  readonly updatePermissions?: ((updates: readonly JsonValue[], emit: Emit) => Promise<readonly string[]>) | undefined;
  /** Why a call must not run because what it does could not be undone; undefined when it may. */
  readonly irreversible?: ((call: LiveCall) => NonNullable<ToolDetails["reversibleSafety"]> | undefined) | undefined;
  /** Gets every verdict at the moment it is told. */
  readonly audit?: ((entry: AuditEntry) => void) | undefined;
};

export type SharedDeps = {
  /** Absent where there are no hooks, which then cost nothing. */
  readonly hooks?: Hooks | undefined;
  /** How often Stop hooks may send the model back to work in one turn; 8 when absent. */
  readonly maxObjections?: number | undefined;
  /** Whose work it is when it is a subagent's: its hooks are those of subagents. */
  readonly agent?: SubagentRef | undefined;
  /** Hides secrets in what the model gets to read, so that it is sent what is recorded. */
  readonly redactor: Redactor;
  readonly newId: () => string;
  readonly clock: () => number;
};

export type SubagentRef = { readonly id: string; readonly type: string };

/** The last word on a call, for the audit log. */
export type AuditEntry = AgentEvents["permission.decided"] & {
  /** What the call was about to touch; several are on several lines. */
  readonly resource: string;
};

/** What one turn brings along. */
export type TurnDeps = {
  readonly emit: Emit;
  /** In the place of the session's own. */
  readonly maxTurns?: number | undefined;
  /** Resolves when everything emitted so far is stored. */
  readonly flush: () => Promise<void>;
  readonly signal: AbortSignal;
  /** A promise to wait for while a reader that must not lose anything is behind. */
  readonly congestion: () => Promise<unknown> | undefined;
  /** Makes room in the context where it gets full; without it, what does not fit fails. */
  readonly fit?: Fit | undefined;
  /** What has arrived for this turn since the model was asked. */
  readonly takeInput?: (() => readonly Omit<EventBody<"input.added">, "type">[]) | undefined;
  /** What a prompt that joins the turn names with `@`; undefined when it names nothing. */
  readonly referTo?: ((input: UserMessage) => Promise<EventBody<"input.added"> | undefined>) | undefined;
  /** Aborts the turn: an answer to a permission question asked for it. */
  readonly interrupt?: (() => void) | undefined;
  /** Starts subagents; absent where there are none. */
  readonly tasks?: Tasks | undefined;
  /** Uses skills; absent where there are none. */
  readonly skills?: SkillUses | undefined;
  /** Keeps files before they are changed; absent where nothing is kept. */
  readonly keeper?: ChangeKeeper | undefined;
};

/** What the calls of a turn see of the session and of the turn, and how they end the turn. */
export type CallDeps = ToolDeps &
  PermissionDeps &
  SharedDeps &
  Pick<TurnDeps, "emit" | "flush" | "signal" | "interrupt" | "tasks" | "skills" | "keeper"> & {
    /** Ends the turn after the calls that run now. */
    readonly halt: (why: Halt) => void;
    /** Why the turn is to end after the calls that run now. */
    readonly halted: () => Halt | undefined;
    /** Tells the model something after the results of the calls that run now. */
    readonly followUp?: ((text: string) => void) | undefined;
    /** Finds calls that go round in circles. */
    readonly repeats: RepeatedCalls;
  };

export type Halt = {
  readonly limit: "hook" | "loop";
  readonly reason: string;
  readonly deferred?: DeferredCall | undefined;
};
