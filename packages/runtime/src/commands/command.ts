import type { CheckpointInspection, CheckpointSummary, RestoreOptions } from "../checkpoints/checkpoints.ts";
import type { RestoreResult } from "../checkpoints/restore.ts";
import type { BackgroundTaskState } from "../protocol/background-task.ts";
import type { JsonValue } from "../protocol/content.ts";
import type { PermissionMode } from "../protocol/permission.ts";

/** A named action of the session. Names have no slash; the slash belongs to the input. */
export interface SystemCommand {
  readonly name: string;
  readonly description: string;
  /** What may be written behind it. */
  readonly argumentHint?: string;
  /** The model may run it too, with the tool `outrider_command_<name>`. */
  readonly modelInvocable?: boolean;
  /** `false`: people may not. */
  readonly userInvocable?: boolean;
  /** What a model's call of it is judged as: `read` touches nothing, `write` is asked about like a change of a file. `write` when absent. */
  readonly safety?: CapabilitySafety;
  readonly subcommands?: readonly Command[];
  /**
   * `inline` answers at once, also while a turn runs, when a program executes it, and asks no model; `blocking`, as when absent, takes the place
   * of a turn then.
   */
  readonly lifecycle?: "inline" | "blocking";
  /** `args` are what was typed, to the letter. */
  execute(context: CommandHostContext, args: string): Promise<CommandResult> | CommandResult;
}

export type CapabilitySafety = "read" | "write";

/** What a palette shows. */
export type Command = {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  /** Who brings it: the name of a module, `skill`, `builtin`. */
  readonly source?: string;
  readonly subcommands?: readonly Command[];
};

/** Commands that come together. */
export interface CommandModule {
  readonly name: string;
  readonly systemCommands?: readonly SystemCommand[];
  /** Entries for palettes only. */
  readonly commandSources?: readonly CommandSource[];
}

/** Where entries of a palette come from. */
export interface CommandSource {
  readonly name: string;
  getCommands(): readonly Command[];
}

export type CommandResult = {
  readonly success: boolean;
  readonly message: string;
  readonly data?: unknown;
  /** What the host is to do; what it cannot do makes the result a failure. */
  readonly effects?: readonly CommandEffect[];
  /** It goes on when somebody has answered. */
  readonly interaction?: CommandInteraction;
};

export type CommandEffect =
  | { readonly type: "model-change-requested"; readonly modelId: string }
  | { readonly type: "session-renamed"; readonly name: string }
  | { readonly type: "conversation-history-cleared" }
  | { readonly type: "session-execution-started" }
  | { readonly type: "language-change-requested"; readonly language: string }
  | { readonly type: "settings-reset-requested" }
  | { readonly type: "session-exit-requested"; readonly reason?: string; readonly message?: string }
  | { readonly type: "session-restart-requested"; readonly reason: string; readonly message: string }
  | { readonly type: "session-picker-requested" }
  | { readonly type: "plugin-tui-requested" }
  | { readonly type: "plugin-registry-reload-requested" }
  | { readonly type: "statusline-settings-patch"; readonly patch: Readonly<Record<string, JsonValue>> };

/** A question to whoever started the command. Hosts show it and hand the answer back; they need to know nothing of the command. */
export interface CommandInteraction {
  readonly prompt: CommandInteractionPrompt;
  submit(value: string): Promise<CommandResult> | CommandResult;
  cancel?(): Promise<CommandResult> | CommandResult;
}

export type CommandInteractionPrompt =
  | {
      readonly type: "choice";
      readonly message: string;
      readonly description?: string;
      readonly choices: readonly { readonly value: string; readonly label?: string; readonly description?: string }[];
    }
  | {
      readonly type: "text";
      readonly message: string;
      readonly description?: string;
      /** It is not shown while it is typed. */
      readonly masked?: boolean;
      readonly validation?: { readonly required?: boolean; readonly pattern?: string; readonly maxLength?: number };
    };

/** What fills the context window. Parts are estimates. */
export type ContextUse = {
  readonly model: string;
  readonly usedTokens: number;
  readonly maxTokens: number;
  /** From here on room is made; absent where that never happens by itself. */
  readonly compactsAt?: number;
  readonly shares: readonly { readonly name: string; readonly tokens: number }[];
};

/** Tokens of the context before and after a summary. */
export type ContextSizes = { readonly preTokens: number; readonly postTokens: number };

export type CommandSessionInfo = {
  readonly sessionId: string;
  readonly name: string | undefined;
  readonly cwd: string;
  readonly provider: string;
  readonly model: string;
  readonly messageCount: number;
};

/** What a command is given of the session it runs in: a narrow face of it, never the session itself. */
export interface CommandHostContext {
  readonly sessionId: string;
  readonly cwd: string;
  /** Whose wish it is. */
  readonly invokedBy: "user" | "model";
  /** Aborted when whoever waits for the command waits no longer. */
  readonly signal: AbortSignal;
  /** Summarises the older part of the conversation; undefined when there is nothing to summarise. */
  compact(instructions?: string): Promise<ContextSizes | undefined>;
  /** What the next request would be made of. */
  contextUse(): Promise<ContextUse>;
  getSessionInfo(): Promise<CommandSessionInfo>;
  getContextState(): { readonly usedTokens: number; readonly maxTokens: number; readonly usedPercentage: number };
  getAutoCompactThreshold(): Promise<number | false>;
  setAutoCompactThreshold(threshold: number | false): Promise<void>;
  /** The mode, and the rules that allow something. */
  getPermissions(): Promise<{ readonly mode: PermissionMode; readonly allow: readonly string[] }>;
  setPermissionMode(mode: PermissionMode): Promise<void>;
  /** Models of the session's provider; `isKnown` is false where no list of it is known. */
  listModels(): Promise<{ readonly models: readonly string[]; readonly isKnown: boolean }>;
  /** What the session has cost so far, in lines for a person. */
  describeCost(): Promise<string>;
  /** What a status line shows, for programs. */
  getStatusLine(): Promise<StatusLine>;
  /** Looks at the record as a replay would, in lines for a person. */
  validateSession(): Promise<{ readonly ok: boolean; readonly text: string }>;
  readonly checkpoints: CommandCheckpoints;
  /** Work beside the conversation. */
  readonly tasks: CommandTasks;
  /** The kinds of subagents there are. */
  listAgents(): Promise<readonly { readonly name: string; readonly description: string }[]>;
  /** The model that a word such as `opus` means at the session's provider; the word itself where it is no such word. */
  resolveModel(word: string): Promise<string>;
  /** The project's memory, for what is typed behind `/memory`. */
  executeMemory(args: string, by: "user" | "model"): Promise<CommandResult>;
  /** Files that every prompt brings along, and files that prompts have named. */
  references(): Promise<CommandReferences>;
  listCommands(): readonly CommandSummary[];
  listSkills(): readonly { readonly name: string; readonly description: string }[];
  /** Puts a skill to work, for a person or for the model. */
  executeSkillCommandByName(
    name: string,
    args: string,
    options: { readonly invocationSource: "user" | "model" },
  ): Promise<CommandResult>;
  /** What the program around the session can do for commands; an absent one cannot. */
  getCommandHostAdapters(): CommandHostAdapters;
}

/** What a program shows in a status line, and where the work stands. */
export type StatusLine = {
  readonly cwd: string;
  readonly sessionId: string;
  readonly name?: string;
  readonly model: { readonly id: string; readonly provider: string };
  readonly workspace: { readonly current: string; readonly project: string; readonly added: readonly string[] };
  readonly version: string;
  readonly outputStyle: string;
  readonly permissionMode: PermissionMode;
  /** Null where a price is not known. */
  readonly cost: { readonly totalUsd: number | null };
  readonly contextWindow: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    /** What the next request would hold. */
    readonly usedTokens: number;
    readonly maxTokens: number;
    readonly usedPercentage: number;
    readonly remainingPercentage: number;
  };
  readonly repository: StatusLineRepository | null;
  readonly references: readonly { readonly path: string; readonly status: string }[];
  readonly background: readonly { readonly id: string; readonly kind: string; readonly status: string }[];
};

/** `changed` is undefined where git did not say it in time. */
export type StatusLineRepository = {
  readonly root: string;
  readonly branch?: string | undefined;
  readonly changed?: number | undefined;
};

export interface CommandCheckpoints {
  list(): Promise<CheckpointSummary[]>;
  inspect(id: string): Promise<CheckpointInspection>;
  restore(id: string, options?: RestoreOptions): Promise<RestoreResult>;
  rollback(id: string, options?: RestoreOptions): Promise<RestoreResult>;
}

export interface CommandTasks {
  list(): readonly BackgroundTaskState[];
  /** A page of what it printed. */
  read(id: string, offset: number): Promise<{ readonly lines: readonly string[]; readonly nextOffset?: number }>;
  cancel(id: string): Promise<void>;
  /** Forgets one that has ended. */
  close(id: string): Promise<void>;
  /** To the standard input of a program, or a message for an agent. */
  send(id: string, text: string): Promise<void>;
  /** Resolves with lines that say how it went when all tasks of a group have ended. */
  waitGroup(id: string): Promise<readonly string[]>;
}

export interface CommandReferences {
  /** `active` ones come with every prompt; `observed` ones were named in one. */
  list(): readonly { readonly path: string; readonly status: "active" | "observed" }[];
  /** Answers how it is shown. Rejects for what is no file, and beyond eight files or 256 KiB. */
  add(name: string): Promise<string>;
  remove(name: string): Promise<void>;
  clear(): void;
}

/** What a host lets commands do beyond the session. Each answers in words how it went, and rejects when it did not. */
export interface CommandHostAdapters {
  /** Does what an effect asks for that the session cannot do itself; undefined where it cannot either. */
  readonly applyEffect?: (effect: CommandEffect) => Promise<string | undefined>;
  /** What is kept for the user alone, for what is typed behind `/user-local`. */
  readonly userLocal?: (args: string) => Promise<CommandResult>;
  /** Plugins and marketplaces, for what is typed behind `/plugin`. */
  readonly plugins?: (args: string) => Promise<CommandResult>;
  /** How answers are written, for what is typed behind `/output-style`. */
  readonly outputStyle?: (args: string) => Promise<CommandResult>;
  /** The language of answers, for what is typed behind `/language`. */
  readonly language?: (args: string) => Promise<CommandResult>;
  /** The repository that is worked in, as it is now; undefined where there is none. */
  readonly repository?: () => Promise<StatusLineRepository | undefined>;
  /** Profiles of providers, for what is typed behind `/provider`. */
  readonly providerSettings?: (args: string) => Promise<CommandResult>;
}

export type CommandSummary = Pick<SystemCommand, "name" | "description" | "argumentHint"> & {
  /** It is kept in a file of the user or the project. */
  readonly isWritten?: true;
};

/** `/name args` when the text begins like that; a path like `/usr/bin/x` does not, nor does a text with a space in front. */
export function parseCommand(text: string): { name: string; args: string } | undefined {
  const match = /^\/([A-Za-z][\w:.-]*)(?:\s+(.*))?$/s.exec(text.trimEnd());
  return match?.[1] === undefined ? undefined : { name: match[1], args: match[2] ?? "" };
}
