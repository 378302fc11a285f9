import type { ImagePart, JsonObject, TextPart } from "../protocol/content.ts";
import type { ToolDetails } from "../protocol/events.ts";
import type { InertGit } from "../protocol/permission.ts";
import type { CallKind, ToolFacts } from "../protocol/tool-facts.ts";
import type { Tasks } from "../tasks/task.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { InputCheck } from "./input.ts";
import type { DeclaredForgiveness } from "./meant-input.ts";

/** What a call is about to touch, in the words permission rules are written in. */
export type Access = {
  readonly kind: CallKind;
  /** What rules match: absolute real paths (look, edit), the command (run), the URL or query (reach), the kind of agent (note); mostly empty for `note`. */
  readonly resources: readonly string[];
  /** The command is to run outside the sandbox, which needs more than what the mode allows. */
  readonly outside?: true;
  /** Where a command starts, when that is not the root of the workspace. */
  readonly cwd?: string;
  /** It runs already, and is told something. */
  readonly isInput?: true;
};

export type ToolContext = {
  readonly callId: string;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
  /** Shown to watchers while the tool runs; never stored. */
  progress(text: string): void;
  /** What tools of one session remember between calls (files that were read, the todo list). */
  readonly memory: ToolMemory;
  /** The tools that are not shown to the model yet. */
  readonly deferredTools?: DeferredTools | undefined;
  /** Starts subagents; absent where there are none. */
  readonly tasks?: Tasks | undefined;
  /** Uses skills; absent where there are none. */
  readonly skills?: SkillUses | undefined;
  /** May this file be read, which lies in what the call was given permission for? A real path. Absent where all of them may. */
  readonly mayRead?: ((path: string) => boolean) | undefined;
  /** Does this mask stand for a secret that the model was not shown? */
  readonly standsForSecret?: ((mask: string) => boolean) | undefined;
  /** Hears the whole text of a file of which only parts are shown: a private key in it is known by its lines from then on. */
  readonly meetSecrets?: ((text: string) => void) | undefined;
  /** Tells hooks what becomes of an entry of the model's list; why not, where one objects. Absent where there are no hooks. */
  readonly listHooks?: ListHooks | undefined;
  /** Real paths of the folders beside the root that belong to the work. */
  readonly roots?: readonly string[] | undefined;
  /** The git that commands of this call must find; only for tools with `takesGit`. Absent where they may find any. */
  readonly git?: InertGit | undefined;
  /** Where the call stands in a trace (W3C `traceparent`); absent where nobody traces. */
  readonly traceparent?: string | undefined;
};

export type ListHooks = (
  moment: "TaskCreated" | "TaskCompleted",
  task: { readonly id: string; readonly subject: string; readonly description: string },
) => Promise<string | undefined>;

/** What a tool needs to put a skill to work. The session binds it to the engine. */
export interface SkillUses {
  use(spec: { readonly callId: string; readonly name: string; readonly args: string }): Promise<ToolOutput>;
}

/** Tools that are there and not shown. */
export interface DeferredTools {
  list(): readonly Tool[];
  /** From the next request on the model sees them. */
  load(names: readonly string[]): void;
}

/** Session-long memory, one slot per key, made on first use. */
export interface ToolMemory {
  slot<T>(key: string, create: () => T): T;
}

export type ToolOutput = {
  readonly content: (TextPart | ImagePart)[];
  /** The call did what it was told and the answer is bad news (a command's exit code): shown to the model as an error. */
  readonly isError?: boolean;
  readonly details?: ToolDetails;
  /** What the model reads after the results of all calls of its message, as somebody's words. */
  readonly followUp?: string | undefined;
  /** What a person should hear as well; the same words are told once. */
  readonly warning?: string | undefined;
};

export interface Tool<Input = unknown> {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input; calls that do not fit are refused before anything else happens. */
  readonly inputSchema: JsonObject;
  /** Judges inputs in the place of the JSON Schema, which then only tells the model what to send. */
  readonly checkInput?: (input: unknown) => Promise<InputCheck>;
  /** Inputs that do not fit the schema, but can only mean one thing, are understood. Absent: they are refused. */
  readonly forgives?: DeclaredForgiveness;
  /** Not shown to the model until it asks for it (`ToolSearch`). Called all the same, it runs. */
  readonly deferred?: true;
  /** Is never deferred. */
  readonly alwaysShown?: true;
  /** Comes and goes with MCP servers while a session lives. */
  readonly comesFromServers?: true;
  /** The server whose tool it is, and where that was written down. */
  readonly server?: { readonly name: string; readonly source: string };
  /** May run beside other calls of the same message. */
  readonly concurrent: boolean;
  /** For all who meet its calls and must not know it by its name. Of a tool without facts nothing is known but what `access` says. */
  readonly facts?: ToolFacts;
  /** How long it may take to stop by itself after an abort before it is left behind; 700 ms when absent. */
  readonly abortGraceMs?: number;
  /** Characters of one result, where the session's own limit is not meant for it. */
  readonly outputLimit?: number;
  /** Commands it runs find the `git` it is given. Without this, a command with git is asked about even if it only looks. */
  readonly takesGit?: true;
  /** It refuses masks in its input itself, knowing what it writes over. Other tools that do something never get one that stands for a secret. */
  readonly checksMasks?: true;
  /** The input with its relative paths made whole by `here`: they start at the directory commands are in. Absent: it has no paths of its own. */
  placed?(input: Input, here: (path: string) => Promise<string>): Promise<unknown>;
  /** Declared, not performed: the engine asks once, before `execute`. A tool cannot forget to ask. */
  access(input: Input, workspace: Workspace, memory?: ToolMemory): Promise<Access>;
  execute(input: Input, context: ToolContext): Promise<ToolOutput>;
}

/** An expected failure, worded for the model. Anything else a tool throws is a bug and is reported as one. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
  readonly details: ToolDetails | undefined;

  constructor(message: string, options: { cause?: unknown; details?: ToolDetails } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.details = options.details;
  }
}

/** Checks the types of one tool and erases its input type, so that tools of many shapes share a list. The engine has checked the input against the schema. */
export function defineTool<Input>(tool: Tool<Input>): Tool {
  return tool as Tool;
}

export function runsCommands(tools: Iterable<Pick<Tool, "facts">>): boolean {
  return [...tools].some(({ facts }) => facts?.kind === "run");
}

export function createToolMemory(): ToolMemory {
  const slots = new Map<string, unknown>();
  return {
    slot<T>(key: string, create: () => T): T {
      if (!slots.has(key)) slots.set(key, create());
      return slots.get(key) as T; // each key is used by one tool, with one type
    },
  };
}
