import type { Rule } from "../permissions/rules.ts";
import type { JsonObject, JsonValue } from "../protocol/content.ts";
import type { Emit, HookEventName } from "../protocol/events.ts";

/** A hook written as a function of the program that uses the library. What it answers has the shape of a command hook's JSON output. */
export type HookCallback = (
  input: JsonObject,
  context: { readonly signal: AbortSignal; readonly toolUseId?: string },
) => unknown | Promise<unknown>;

/** What one hook does when its moment comes. */
export type HookAction =
  | {
      readonly type: "command";
      readonly command: string;
      /** With a list the command is a program and these are its arguments; without one it is a line for bash. */
      readonly args: readonly string[] | undefined;
      readonly env: Readonly<Record<string, string>>;
    }
  | {
      readonly type: "http";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Variables `headers` may speak of. */
      readonly variables: readonly string[];
    }
  | {
      readonly type: "mcp_tool";
      readonly server: string;
      readonly tool: string;
      /** `${tool_input.command}` and the like in its texts stand for the hook's own input. */
      readonly input: JsonObject;
    }
  | { readonly type: "prompt"; readonly prompt: string; readonly model: string | undefined }
  | {
      readonly type: "agent";
      readonly prompt: string;
      readonly model: string | undefined;
      readonly maxTurns: number | undefined;
    }
  | { readonly type: "callback"; readonly callback: HookCallback };

export type Hook = {
  readonly event: HookEventName;
  /** As it is written; `matches` is made of it. */
  readonly matcher: string;
  readonly matches: (subject: string) => boolean;
  /** Only for calls this rule would catch. */
  readonly condition: Rule | undefined;
  readonly action: HookAction;
  readonly timeoutMs: number;
  readonly onFailure: "block" | "continue";
  /** The same for one that does not answer in time. */
  readonly onTimeout: "block" | "continue";
  /** Nobody waits for it, and it changes nothing. */
  readonly background: boolean;
  /** Runs last, on what would really happen; cannot be switched off. */
  readonly guard: boolean;
  /** Not again in this session. */
  readonly once: boolean;
  /** Only for what the agent with this id does. */
  readonly agentId?: string | undefined;
  /** Where it was written. */
  readonly source: string;
};

/** All hooks of a session in the order they run. */
export type HookSet = {
  readonly hooks: readonly Hook[];
  /** What was left out because its source is not trusted. */
  readonly ignored: readonly string[];
  /** What was left out because its moment never comes here, in words for a person. */
  readonly warnings: readonly string[];
};

export type HookRequest = {
  readonly event: HookEventName;
  /** What matchers look at: the tool's name, or the event's kind (`startup`, `manual`, …). */
  readonly subject?: string;
  /** The fields of this event, beside those every hook gets. */
  readonly input: JsonObject;
  /** Whose moment it is, where it is not the prompt that is worked on. */
  readonly promptId?: string | undefined;
  readonly callId?: string;
  readonly signal: AbortSignal;
  readonly emit: Emit;
  /** Would this rule catch the call with this input? Asked for hooks with a condition. */
  readonly concerns?: (rule: Rule, toolInput: unknown) => Promise<boolean>;
  readonly only?: "guards";
};

export type HookEffect = "allow" | "ask" | "defer" | "deny";

/** What the hooks of one moment said together. */
export type HookVerdict = {
  /** The strictest that was said: deny over defer over ask over allow. A block is a deny; a call that is deferred is to wait, and the turn with it. */
  readonly decision?: { readonly effect: HookEffect; readonly reason: string };
  /** What the user is to have said first, before the prompt. */
  readonly firstMessage?: string;
  /** The turn is to end; why. */
  readonly stop?: string;
  readonly updatedInput?: JsonObject;
  /** What the model reads in place of the tool's own words. */
  readonly updatedOutput?: JsonValue;
  /** What a yes to a permission question changes for later ones. */
  readonly updatedPermissions?: readonly JsonValue[];
  /** For the model to read. */
  readonly context: readonly string[];
  /** The answer to a permission question that also ends the turn. */
  readonly interrupt?: boolean;
  /** What a server that asks a person something is answered. */
  readonly answer?: ElicitationAnswer;
};

export type SetupTrigger = "init" | "maintenance";

export type ElicitationAnswer = { readonly action: "accept" | "decline" | "cancel"; readonly content?: JsonObject };

export interface HookRunner {
  /** Is there a hook for this event? Ask first: it saves building the input. */
  has(event: HookEventName): boolean;
  /** Those of now, in the order they run. */
  list(): readonly Hook[];
  /** Runs the hooks of one moment, one after the other. Rejects only with the signal's reason, once that is aborted. */
  run(request: HookRequest): Promise<HookVerdict>;
  /** The same without waiting and without a say. */
  notify(request: HookRequest): void;
  /** More hooks, from the next moment on. */
  add(hooks: readonly Hook[]): void;
  /** Without these, from the next moment on. */
  remove(hooks: readonly Hook[]): void;
  /** Waits this long for what runs in the background, then ends it. */
  close(graceMs: number): Promise<void>;
}

type Agent = { readonly id: string; readonly type: string };
type ToolUse = {
  readonly tool: string;
  readonly input: JsonObject;
  readonly callId: string;
  /** Whose tool it is, if a server's. */
  readonly server?: { readonly name: string; readonly source: string } | undefined;
};
type Stop = { readonly text: string /** Hooks have sent the model back before. */; readonly isAgain: boolean };

/** What an answer of a tool says to hooks. */
export type ToolAnswer = ToolUse & {
  readonly text: string;
  /** The same in the tool's own shape. */
  readonly response: JsonValue;
  readonly durationMs: number;
};

/** A call and what the model reads of it. */
export type AnsweredCall = ToolUse & { readonly answer: JsonValue };

/** What there is to tell at each moment; `moments.ts` puts it into the words that hooks know. */
type ListedTask = { readonly id: string; readonly subject: string; readonly description: string };
type Checkout = { readonly name: string; readonly path: string; readonly branch: string };

/** What going on with an old conversation costs. */
export type ResumedFacts = { readonly secondsSinceAnswer: number; readonly contextTokens: number };

export type HookFacts = {
  PreToolUse: ToolUse;
  /** `rule` is one that would allow the call. */
  PermissionRequest: ToolUse & { readonly reason: string; readonly rule: string | undefined };
  /** `kind` is Claude Code's word for what somebody should know of. */
  Notification: { readonly kind: "permission_prompt" | "elicitation_response"; readonly message: string };
  PostToolUse: ToolAnswer;
  PostToolUseFailure: ToolAnswer;
  /** All calls of one message have been answered. */
  PostToolBatch: { readonly calls: readonly AnsweredCall[] };
  /** Somebody asked that what the work needs be set up, or looked after. */
  Setup: { readonly trigger: SetupTrigger };
  SessionStart: { readonly source: string; readonly model: string; readonly resumed?: ResumedFacts | undefined };
  SessionEnd: { readonly reason: string };
  /** `typed` is what the user wrote, `prompt` what was made of it. */
  UserPromptSubmit: { readonly typed: string; readonly prompt: string };
  /** A command in a file was typed: its text takes the place of what was. */
  UserPromptExpansion: {
    readonly name: string;
    readonly args: string;
    readonly scope: "user" | "project";
    readonly typed: string;
  };
  Stop: Stop;
  /** `error` is Claude Code's word for it. */
  StopFailure: { readonly error: string; readonly details: string; readonly text: string };
  InstructionsLoaded: {
    readonly path: string;
    readonly kind: string;
    readonly importedBy: string | undefined;
    /** A file below was touched for the first time. */
    readonly nested?: boolean;
    /** It is for files like the one that was touched. */
    readonly byPattern?: boolean;
    /** The file that was touched. */
    readonly triggeredBy?: string | undefined;
  };
  SubagentStart: { readonly agent: Agent };
  WorktreeCreate: Checkout;
  WorktreeRemove: Checkout;
  /** An entry of the model's list of what is to be done. */
  TaskCreated: ListedTask;
  TaskCompleted: ListedTask;
  /** A server asks a person something; `request` is as it sent it. */
  Elicitation: { readonly server: string; readonly request: JsonObject };
  ElicitationResult: { readonly server: string; readonly request: JsonObject; readonly answer: JsonObject };
  SubagentStop: Stop & { readonly agent: Agent };
  PreCompact: { readonly trigger: string; readonly focus: string | undefined };
  PostCompact: { readonly trigger: string; readonly summary: string };
  /** A command has left another working directory behind. */
  CwdChanged: { readonly from: string; readonly to: string };
};

export type HookPlace = Pick<HookRequest, "signal" | "emit" | "callId" | "concerns" | "only" | "promptId">;

/** The hooks of a session, as the rest of the runtime knows them. */
export interface Hooks {
  /** What the hooks of one moment say; `facts` is called only where there is one. Rejects only with the signal's reason, once that is aborted. */
  ask<E extends keyof HookFacts>(event: E, facts: () => HookFacts[E], place: HookPlace): Promise<HookVerdict>;
  /** The same without waiting and without a say. */
  tell<E extends keyof HookFacts>(event: E, facts: () => HookFacts[E], place: HookPlace): void;
  /** Those of now, in the order they run. */
  list(): readonly Hook[];
  /** From now on it is this prompt that is worked on. */
  begin(promptId: string): void;
  /** More hooks, from the next moment on. */
  add(hooks: readonly Hook[]): void;
  /** Without these, from the next moment on. */
  remove(hooks: readonly Hook[]): void;
  /** The same hooks, which are told that the work is this subagent's, and its mode. */
  ofAgent(agent: Agent, mode: () => string): Hooks;
  /** Waits this long for what runs in the background, then ends it. */
  close(graceMs: number): Promise<void>;
}
