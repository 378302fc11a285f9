import type { Checkpoints } from "../checkpoints/checkpoints.ts";
import type { ReversibleExecutionOptions } from "../checkpoints/reversible-execution.ts";
import type { CommandHostAdapters, CommandModule, SystemCommand } from "../commands/command.ts";
import type { Skill } from "../commands/skills/skill.ts";
import type { CompactionSettings } from "../context/compaction-limits.ts";
import type { FolderFacts } from "../context/environment.ts";
import type { Instructions } from "../context/instructions.ts";
import type { HookSettings, HooksByEvent } from "../engine/open-hooks.ts";
import type { SetupTrigger } from "../hooks/hook.ts";
import type { SubagentRunnerFactory } from "./subagents/in-process-runner.ts";
import type { AuditEntry, SubagentRef } from "../engine/deps.ts";
import type { GivenLimits } from "../engine/repeated-calls.ts";
import type { SessionStore } from "../journal/store.ts";
import type { CatalogOverride } from "../model/catalog-override.ts";
import type { Fallback } from "../model/fallback.ts";
import type { Effort, Provider } from "../model/model.ts";
import type { JsonObject } from "../protocol/content.ts";
import type { PluginFact, SessionFacts, WorktreeFacts } from "../protocol/events.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import type { AgentDefinition } from "../tasks/agent-definition.ts";
import type { BackgroundTaskRunner } from "../tasks/background/task-contract.ts";
import type { BashLimits } from "../tools/builtin/bash.ts";
import type { McpServerConfigs } from "../tools/mcp/server-config.ts";
import type { WebSearchBackend } from "../tools/builtin/web-search.ts";
import type { SchemaSource } from "../tools/standard-schema.ts";
import type { Tool } from "../tools/tool.ts";
import type { Redactor } from "../util/redact.ts";
import type { Editor } from "../workspace/editor.ts";
import type { SandboxOptions } from "../workspace/sandbox.ts";
import type { SandboxClient } from "../workspace/sandbox-client.ts";
import type { InboxLimits } from "./prompts/inbox.ts";
import type { SkillOptions } from "./skills/session-skills.ts";
import type { ServerPrompts } from "../tools/mcp/server-prompt.ts";
import type { PermissionOptions } from "./session-policy.ts";
import type { WorkspaceManifest } from "../workspace/workspace-manifest.ts";

/** MCP servers that were started for one agent. */
export type OwnServers = {
  readonly tools: readonly Tool[];
  /** Rules that come with them. */
  readonly ask: readonly string[];
  readonly deny: readonly string[];
  /** What is wrong with some of them, a sentence each. */
  readonly warnings: readonly string[];
  close(): Promise<void>;
};

/** A checkout of its own that a session works in. */
export interface SessionWorktree {
  /** What is in it now; undefined before it was made. */
  inspect(): Promise<WorktreeFacts | undefined>;
}

/** The bundles of a session, as it tells of them. */
export type SessionPlugins = {
  readonly loaded?: readonly PluginFact[] | undefined;
  readonly problems?: Readonly<NonNullable<SessionFacts["pluginErrors"]>> | undefined;
  /** Looks for them again, and for `more` folders that somebody names now. */
  readonly reload?: ((more?: readonly { readonly path: string }[]) => Promise<ReloadedPlugins>) | undefined;
};

/** What bundles bring that were looked for again. */
export type ReloadedPlugins = {
  readonly loaded: readonly PluginFact[];
  readonly problems: Readonly<NonNullable<SessionFacts["pluginErrors"]>>;
  readonly warnings: readonly string[];
  readonly agents: readonly AgentDefinition[];
  readonly skills: readonly Skill[];
  /** Its sources are those of bundles only. */
  readonly hookSettings: HookSettings;
  /** Their servers, beside these. */
  readonly servers: (others: McpServerConfigs) => McpServerConfigs;
};

/** How a session is opened. */
export type SessionOptions = {
  readonly cwd: string;
  /** `cwd` is in this worktree: what each turn leaves there is told. */
  readonly worktree?: SessionWorktree | undefined;
  readonly provider: Provider;
  /** The provider's own default when absent. */
  readonly model?: string | undefined;
  /** A new session under this id; refused when it exists. */
  readonly sessionId?: string | undefined;
  /** Goes on with a stored session; refused when it does not exist. */
  readonly resumeSessionId?: string | undefined;
  /** With `resumeSessionId`: goes back to the event of this number. What came after it stays in the journal and is no part of the conversation. */
  readonly resumeAt?: number | undefined;
  /** In memory when absent. */
  readonly sessionStore?: SessionStore | undefined;
  readonly permissionMode?: PermissionMode | undefined;
  /**
   * Whose words prompts are; anybody's when absent. A command that anybody types changes nothing beyond the session and chooses no looser
   * permission mode than the one of now. Strangers do not learn either which files there are where nothing may be read without a question.
   */
  readonly promptsFrom?: "owner" | "anybody" | "strangers" | undefined;
  /** Modes that a typed command may choose, where whoever types is not whoever decides; all when absent. */
  readonly commandModes?: readonly PermissionMode[] | undefined;
  /** Rules such as `Edit` or `Bash(npm test:*)`. */
  readonly allowedTools?: readonly string[] | undefined;
  /** The same; a bare tool name also takes the tool away from the model. */
  readonly disallowedTools?: readonly string[] | undefined;
  /** Rules of settings files, remembered answers and what else decides about calls. */
  readonly permissions?: PermissionOptions | undefined;
  /** Opens what keeps files before tools change them; in the user's folder when absent, and nothing is kept with `bare`. */
  readonly checkpoints?: ((root?: string) => Promise<Checkpoints>) | undefined;
  /** Only calls run whose effects can be undone. */
  readonly reversibleExecution?: ReversibleExecutionOptions | undefined;
  /** Only these of the built-in tools are offered. */
  readonly builtinTools?: readonly string[] | undefined;
  /** Told of every verdict on a call before the call is made; when it throws, the call is not made. */
  readonly audit?: ((entry: AuditEntry) => void) | undefined;
  /** Takes the place of the built-in system prompt. */
  readonly systemPrompt?: string | undefined;
  /** What an agent is told that the conversation is: the environment and the session are described behind it. */
  readonly agentPrompt?: string | undefined;
  /** Starts MCP servers that an agent has of its own. What it answers is closed with the agent. */
  readonly openServers?: ((servers: JsonObject, source: string) => Promise<OwnServers>) | undefined;
  /** Stands before the first prompt of a new session, as a part of it. */
  readonly initialPrompt?: string | undefined;
  readonly appendSystemPrompt?: string | undefined;
  /** What `loadInstructions` found in AGENTS.md and CLAUDE.md files: it joins the system prompt, ours or that of the caller. */
  readonly instructions?: Instructions | undefined;
  /** What is known of the folder, such as its git repository; asked for when a new session writes its system prompt. */
  readonly folderFacts?: (() => Promise<FolderFacts>) | undefined;
  /** What `loadMemoryIndex` found: it joins the system prompt behind the instructions. */
  readonly projectMemory?: string | undefined;
  /** Where the project's memory is kept, from its top; with `isOffered` the model may read it and propose entries. */
  readonly memory?: { readonly root: string; readonly isOffered: boolean } | undefined;
  /** What `formatTaskContext` makes of the project's tasks: it comes behind the memory. */
  readonly taskContext?: string | undefined;
  /** How answers should be written: its text ends our system prompt, and without `keepsCoding` takes the place of how to work on code. */
  readonly outputStyle?: { readonly name: string; readonly text: string; readonly keepsCoding: boolean } | undefined;
  /** What answers should be written in. */
  readonly language?: string | undefined;
  /** When older messages give way to a summary, and what that dwells on; at 83.5 % of the window when absent. */
  readonly compaction?: Partial<CompactionSettings> | undefined;
  /** How often the model may be asked for one prompt, by the conversation itself. */
  readonly maxTurns?: number | undefined;
  /**
   * How many requests one prompt may cause in all: turns, summaries, questions of hooks, subagents and tries again. 2,000 when absent,
   * and less where there are few `maxTurns`.
   */
  readonly maxRequests?: number | undefined;
  /** When the same call with the same result is pointed out to the model (3), and when it ends the turn (6); 0 for never. */
  readonly loops?: GivenLimits | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly thinkingTokens?: number | undefined;
  readonly effort?: Effort | undefined;
  /** Added to every request's body as they are. */
  readonly providerOptions?: JsonObject | undefined;
  /** Who is asked when the provider stays overloaded or out of reach: another model of it, or of another provider. */
  readonly fallback?: Fallback | undefined;
  /** Stops before the next model call once the session has spent more; refused for a model of unknown price. */
  readonly maxBudgetUsd?: number | undefined;
  /** With a budget: go on although the price is unknown, and count such calls as nothing. */
  readonly allowUnknownPrice?: boolean | undefined;
  /** What the user knows about models and prices beside the built-in table. */
  readonly catalogOverride?: CatalogOverride | undefined;
  /** Variables that say which model a word such as `opus` means: `ANTHROPIC_DEFAULT_OPUS_MODEL` and its kin. */
  readonly modelVariables?: Readonly<Record<string, string | undefined>> | undefined;
  /** The model that is asked in permission mode `plan`, where it is another one. */
  readonly planModel?: string | undefined;
  /** What the final answer must fit, as JSON Schema (draft 7 or 2020-12) or as a schema of zod or another library, which then judges it; the outcome then holds it as `structured`. */
  readonly outputSchema?: SchemaSource | undefined;
  /** Tools beside the built-in ones; one with the name of a built-in takes its place. */
  readonly tools?: readonly Tool[] | undefined;
  /** Which of `tools`, and of those that MCP servers bring while the session lives, are offered; all when absent. */
  readonly offers?: ((toolName: string) => boolean) | undefined;
  /** Other names under which the model may call tools, such as `{ Bash: "mcp__remote__bash" }`. */
  readonly toolAliases?: Readonly<Record<string, string>> | undefined;
  readonly webSearch?: WebSearchBackend | undefined;
  /** Kinds of subagents the model may start with the Task tool; see docs/subagents.md. */
  readonly agents?: readonly AgentDefinition[] | undefined;
  /** Also those that are always there; without them and without `agents` there is no Task tool. */
  readonly builtinAgents?: boolean | undefined;
  /** The model of subagents that neither their definition nor the call gives one; the session's when absent. */
  readonly subagentModel?: string | undefined;
  /** A subagent works in the background unless its definition or the call says otherwise. */
  readonly backgroundAgents?: boolean | undefined;
  readonly commands?: readonly SystemCommand[] | undefined;
  /** Commands that come together, such as those of another package. */
  readonly commandModules?: readonly CommandModule[] | undefined;
  /** What the program can do for commands beyond the session. */
  readonly commandAdapters?: CommandHostAdapters | undefined;
  /** Somebody listens to `interaction.requested` and will call `answerInteraction`. Without it, a command that asks something is cancelled. */
  readonly answersInteractions?: boolean | undefined;
  /** `false`: no prompt is a command, whatever it begins with. `"known"`: a prompt whose first word names no command is text. */
  readonly slashCommands?: boolean | "known" | undefined;
  /** Skills and commands that are kept in files, as `findSkills` finds them; see docs/skills.md. */
  readonly skills?: SkillOptions | undefined;
  /** Prompts that servers have written, each a command. */
  readonly serverPrompts?: ServerPrompts | undefined;
  /** Bundles that were loaded; what they brought is among the other options already. */
  readonly loadedPlugins?: SessionPlugins | undefined;
  /** Points where commands, services, models or functions may change what happens; see docs/hooks.md. */
  readonly hooks?: HooksByEvent | undefined;
  /** How often Stop hooks may send the model back to work in one turn; 8 when absent. */
  readonly maxObjections?: number | undefined;
  /** Setup hooks run before the first prompt, and hear this word. */
  readonly setup?: SetupTrigger | undefined;
  /** Hooks as settings files have them, layer by layer. */
  readonly hookSettings?: HookSettings | undefined;
  /** This session is a subagent's: its hooks are SubagentStart and SubagentStop instead of those of sessions and prompts. */
  readonly agent?: SubagentRef | undefined;
  /** Makes the runner that does the work of subagents; this process does it when absent. It is asked for with the first of them. */
  readonly subagentRunnerFactory?: SubagentRunnerFactory | undefined;
  /** Somebody listens to `permission_request` and will call `answerPermission`. Without it, what would be asked is denied. */
  readonly answersPermissions?: boolean | undefined;
  /**
   * The variables of programs the user has let run, by a rule or a yes; the own environment without the keys of models when absent.
   * Programs that only the mode lets run get of these what does not look like a secret.
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Names of variables that every program gets, whatever they look like. */
  readonly passEnv?: readonly string[] | undefined;
  /** The project's own configuration is not trusted: no program the model asks for gets what looks like a secret. */
  readonly untrusted?: boolean | undefined;
  /** The `traceparent` (W3C) for the programs and MCP servers that a call uses; `taskId` when a subagent makes it. */
  readonly traceparent?: ((callId: string, taskId?: string) => string | undefined) | undefined;
  readonly home?: string | undefined;
  /** Hides secrets in everything that is stored, shown or sent; those of the environment, and whatever has the shape of a key, when absent. */
  readonly redactor?: Redactor | undefined;
  /** Where outputs too long for the model are kept whole; on the other machine when there is a `sandboxClient`. */
  readonly overflowDirectory?: string | undefined;
  /** Which commands run in a box, and what they reach from there; as settings say when absent. */
  readonly sandbox?: SandboxOptions | undefined;
  /** Another machine, on which all tools work instead of on this one. */
  readonly sandboxClient?: SandboxClient | undefined;
  /** An editor that works on the same files: what is not saved there is read, and what tools write and commands print is seen there. */
  readonly editor?: Editor | undefined;
  /** What a fresh sandbox of the client is to hold; sources start at `cwd`. */
  readonly workspaceManifest?: WorkspaceManifest | undefined;
  /** The state the client's sandbox is to be brought to; the manifest is not applied then. */
  readonly sandboxSnapshotId?: string | undefined;
  /** Characters of one tool result. */
  readonly outputLimit?: number | undefined;
  /** Of the Bash tool: how long commands may take, and how much of their output is shown. */
  readonly bash?: BashLimits | undefined;
  /** Where somebody keeps a copy of the session in another layout: hooks are told this one. */
  readonly transcriptPath?: string | undefined;
  /** What the session is called from its first event on. */
  readonly sessionName?: string | undefined;
  /** The kinds of settings files the options come from. */
  readonly settingSources?: readonly string[] | undefined;
  /** Whether what the project holds that runs or loosens something counts, and why. */
  readonly projectTrust?: { readonly trusted: boolean; readonly reason: string } | undefined;
  /** What a person should hear about how the options came about. */
  readonly warnings?: readonly string[] | undefined;
  /** What a project nobody has said to trust wanted, and what to do about it. */
  readonly ignoredSettings?: { readonly items: readonly string[]; readonly hint: string } | undefined;
  /** A task that ends while nothing runs begins a turn in which the model hears of it; with `false` that waits for the next prompt. */
  readonly wakes?: boolean | undefined;
  /**
   * Who starts tasks beside the conversation, by their kind. One for `process` lets the model start such with a `BackgroundProcess` tool;
   * commands that Bash leaves in the background are started by the session itself.
   */
  readonly backgroundTaskRunners?: readonly BackgroundTaskRunner[] | undefined;
  /** The model may plan what is to be told to it later, and be woken by files and programs: for sessions that stay open. */
  readonly schedules?: boolean | undefined;
  /** How much may wait for the running turn. */
  readonly inbox?: InboxLimits | undefined;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
  readonly newId?: (() => string) | undefined;
};
