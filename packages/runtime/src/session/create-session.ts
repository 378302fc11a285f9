import type { Checkpoints } from "../checkpoints/checkpoints.ts";
import {
  evaluateReversibleSafety,
  isBlockedByReversibility,
  type ReversibleExecutionOptions,
} from "../checkpoints/reversible-execution.ts";
import type { SystemCommand } from "../commands/command.ts";
import { type CompactionSettings, checkThreshold, defaultThreshold } from "../context/compaction-limits.ts";
import type { Instructions } from "../context/instructions.ts";
import { buildSystemPrompt } from "../context/system-prompt.ts";
import { type Budget, createBudget } from "../engine/budget.ts";
import { type AnswerSchema, StructuredAnswer, toAnswerSchema } from "../engine/structured-output.ts";
import type { HookSettings, HooksByEvent } from "../engine/open-hooks.ts";
import type { AuditEntry } from "../engine/judge-call.ts";
import type { SubagentRef, TurnDeps } from "../engine/turn.ts";
import { createMemoryStore } from "../journal/memory-store.ts";
import type { JournalWriter, SessionStore } from "../journal/store.ts";
import type { CatalogOverride } from "../model/catalog-override.ts";
import { type Fallback, withFallback } from "../model/fallback.ts";
import type { Effort, Provider } from "../model/model.ts";
import type { PermissionGate } from "../permissions/gate.ts";
import { parseRule, type Rule } from "../permissions/rules.ts";
import type { JsonObject, ModelRef, ToolDefinition } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent, SessionFacts } from "../protocol/events.ts";
import type { PermissionMode } from "../protocol/permission.ts";
import { type AgentDefinition, builtinAgents, mergeAgents } from "../tasks/agent-definition.ts";
import { createBuiltinTools } from "../tools/builtin/builtin-tools.ts";
import { createTaskTool } from "../tools/builtin/task.ts";
import type { WebSearchBackend } from "../tools/builtin/web-search.ts";
import { defaultOutputLimit } from "../tools/output-limit.ts";
import { parseSchema, type SchemaSource, toJsonSchema } from "../tools/schema.ts";
import { isPublicAddress } from "../tools/web-address.ts";
import { createToolMemory, type Tool } from "../tools/tool.ts";
import { scrubEnvironment } from "../workspace/environment.ts";
import { monotonicMs } from "../util/monotonic-clock.ts";
import { createRedactor, type Redactor } from "../util/redact.ts";
import { createIdSeries } from "../util/unique-ids.ts";
import { openWorkspace } from "../workspace/open-workspace.ts";
import type { SandboxOptions } from "../workspace/sandbox.ts";
import type { SandboxClient } from "../workspace/sandbox-client.ts";
import { SessionCompaction } from "./session-compaction.ts";
import type { Controlled } from "./session-controls.ts";
import { Subagents } from "./subagents.ts";
import { type PermissionOptions, SessionPolicy } from "./session-policy.ts";
import { TurnCheckpoints } from "./turn-checkpoints.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { WorkspaceManifest } from "../workspace/workspace-manifest.ts";

declare const OUTRIDER_VERSION: string;

export type SessionOptions = {
  readonly cwd: string;
  readonly provider: Provider;
  /** The provider's own default when absent. */
  readonly model?: string;
  /** A new session under this id; refused when it exists. */
  readonly sessionId?: string;
  /** Goes on with a stored session; refused when it does not exist. */
  readonly resumeSessionId?: string;
  /** In memory when absent. */
  readonly sessionStore?: SessionStore;
  readonly permissionMode?: PermissionMode;
  /** Rules such as `Edit` or `Bash(npm test:*)`. */
  readonly allowedTools?: readonly string[];
  /** The same; a bare tool name also takes the tool away from the model. */
  readonly disallowedTools?: readonly string[];
  /** Rules of settings files, remembered answers and what else decides about calls. */
  readonly permissions?: PermissionOptions;
  /** Opens what keeps files before tools change them; nothing is kept when absent. */
  readonly checkpoints?: () => Promise<Checkpoints>;
  /** Only calls run whose effects can be undone. */
  readonly reversibleExecution?: ReversibleExecutionOptions;
  /** Only these of the built-in tools are offered. */
  readonly builtinTools?: readonly string[];
  /** Told of every verdict on a call before the call is made; when it throws, the call is not made. */
  readonly audit?: (entry: AuditEntry) => void;
  /** Takes the place of the built-in system prompt. */
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  /** What `loadInstructions` found in AGENTS.md and CLAUDE.md files: it joins the system prompt, whoever wrote that. */
  readonly instructions?: Instructions;
  /** What answers should be written in. */
  readonly language?: string;
  /** When older messages give way to a summary, and what that dwells on; at 83.5 % of the window when absent. */
  readonly compaction?: Partial<CompactionSettings>;
  /** How often the model may be asked for one prompt. */
  readonly maxTurns?: number;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly thinkingTokens?: number;
  readonly effort?: Effort;
  /** Added to every request's body as they are. */
  readonly providerOptions?: JsonObject;
  /** Who is asked when the provider stays overloaded or out of reach: another model of it, or of another provider. */
  readonly fallback?: Fallback;
  /** Stops before the next model call once the session has spent more; refused for a model of unknown price. */
  readonly maxBudgetUsd?: number;
  /** With a budget: go on although the price is unknown, and count such calls as nothing. */
  readonly allowUnknownPrice?: boolean;
  /** What the user knows about models and prices beside the built-in table. */
  readonly catalogOverride?: CatalogOverride;
  /** What the final answer must fit, as JSON Schema (draft 7 or 2020-12) or as a zod schema; the outcome then holds it as `structured`. */
  readonly outputSchema?: SchemaSource;
  /** Tools beside the built-in ones; one with the name of a built-in takes its place. */
  readonly tools?: readonly Tool[];
  readonly webSearch?: WebSearchBackend;
  /** Kinds of subagents the model may start with the Task tool; see docs/subagents.md. */
  readonly agents?: readonly AgentDefinition[];
  /** Also those that are always there; without them and without `agents` there is no Task tool. */
  readonly builtinAgents?: boolean;
  readonly commands?: readonly SystemCommand[];
  /** Points where commands, services, models or functions may change what happens; see docs/hooks.md. */
  readonly hooks?: HooksByEvent;
  /** Hooks as settings files have them, layer by layer. */
  readonly hookSettings?: HookSettings;
  /** This session is a subagent's: its hooks are SubagentStart and SubagentStop instead of those of sessions and prompts. */
  readonly agent?: SubagentRef;
  /** Somebody listens to `permission_request` and will call `answerPermission`. Without it, what would be asked is denied. */
  readonly answersPermissions?: boolean;
  /** What child processes see; the own environment without secrets when absent. */
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: string;
  /** Hides secrets in everything that is stored, shown or sent; those of the environment, and whatever has the shape of a key, when absent. */
  readonly redactor?: Redactor;
  /** Where outputs too long for the model are kept whole; on the other machine when there is a `sandboxClient`. */
  readonly overflowDirectory?: string;
  /** Whether commands run in a box, and what they reach from there; they do not when absent. */
  readonly sandbox?: SandboxOptions;
  /** Another machine, on which all tools work instead of on this one. */
  readonly sandboxClient?: SandboxClient;
  /** What a fresh sandbox of the client is to hold; sources start at `cwd`. */
  readonly workspaceManifest?: WorkspaceManifest;
  /** The state the client's sandbox is to be brought to; the manifest is not applied then. */
  readonly sandboxSnapshotId?: string;
  /** Characters of one tool result. */
  readonly outputLimit?: number;
  /** What the session is called from its first event on. */
  readonly sessionName?: string;
  /** The kinds of settings files the options come from. */
  readonly settingSources?: readonly string[];
  /** What a person should hear about how the options came about. */
  readonly warnings?: readonly string[];
  /** What a project nobody has said to trust wanted, and what to do about it. */
  readonly ignoredSettings?: { readonly items: readonly string[]; readonly hint: string };
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly newId?: () => string;
};

/** Everything a turn needs that stays the same for the whole session. */
export type OpenSession = {
  readonly journal: JournalWriter;
  readonly workspace: Workspace;
  readonly facts: SessionFacts;
  readonly system: string;
  readonly toolDefinitions: ToolDefinition[];
  readonly deps: Omit<TurnDeps, "emit" | "flush" | "congestion" | "signal">;
  readonly compaction: SessionCompaction;
  /** Absent when the model may start none. */
  readonly subagents: Subagents | undefined;
  readonly checkpoints: TurnCheckpoints | undefined;
  /** What a host may change. */
  readonly controlled: Controlled;
  /** What a person should know of the options the session was opened with. */
  readonly warnings: readonly string[];
  /** Hears what turns out later, such as a sandbox that does not work. */
  onWarning(listener: (message: string) => void): void;
};

/** The only place in the library where parts are put together. */
export async function createSession(options: SessionOptions, id: string, gate: PermissionGate): Promise<OpenSession> {
  const env = options.env ?? scrubEnvironment(process.env);
  const home = options.home ?? env["HOME"];
  const overflowDirectory = options.overflowDirectory ?? `${env["TMPDIR"] ?? "/tmp"}/outrider-${id}`;
  const opened = await openWorkspace({
    root: options.cwd,
    env,
    overflowDirectory,
    ...(home !== undefined && { home }),
    sandbox: options.sandbox,
    sandboxClient: options.sandboxClient,
    workspaceManifest: options.workspaceManifest,
    sandboxSnapshotId: options.sandboxSnapshotId,
    isPublicAddress,
  });
  const redactor = options.redactor ?? createRedactor({ env: process.env });
  const workspace: Workspace = {
    ...opened.workspace,
    // Outputs are kept as they are shown; what bash is to run is kept as it is.
    saveOverflow: (name, text) => opened.workspace.saveOverflow(name, name.endsWith(".txt") ? redactor.text(text) : text),
  };
  const agents = options.agent ? [] : mergeAgents([options.agents ?? [], options.builtinAgents ? builtinAgents : []]);
  const tools = offeredTools(options, agents);
  const policy = await SessionPolicy.load({
    mode: options.permissionMode ?? "default",
    allowedTools: options.allowedTools,
    disallowedTools: options.disallowedTools,
    permissions: options.permissions,
    workspace,
    home,
    overflowDirectory,
  });
  const model = { provider: options.provider.name, id: options.model ?? options.provider.model };
  const budget = options.maxBudgetUsd === undefined ? undefined : await openBudget(options, options.maxBudgetUsd, model);
  const answerSchema =
    options.outputSchema && toAnswerSchema(parseSchema(await toJsonSchema(options.outputSchema)), options.provider.nativeSchema);
  const hooking = options.hooks || options.hookSettings?.sources.length ? await import("../engine/open-hooks.ts") : undefined;
  const hookSet = hooking?.loadHooks(options);
  checkThreshold(options.compaction?.threshold ?? defaultThreshold);
  // Only now: options that are refused must leave no journal behind.
  const journal = await openJournal(options, id);
  const toolDefinitions = definitionsOf(tools, answerSchema);
  const names = toolDefinitions.map((tool) => tool.name);
  const system = redactor.text(storedSystem(options, journal.events) ?? systemPromptOf(options, workspace.root, names));
  const request: Controlled["request"] & TurnDeps["request"] = {
    model: model.id,
    system,
    tools: toolDefinitions,
    ...(options.maxOutputTokens !== undefined && { maxOutputTokens: options.maxOutputTokens }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...(options.thinkingTokens !== undefined && { thinkingTokens: options.thinkingTokens }),
    ...(options.effort !== undefined && { effort: options.effort }),
    ...(options.providerOptions !== undefined && { options: options.providerOptions }),
  };
  let contextWindow: Promise<number> | undefined; // asked for after every answer
  const deps: OpenSession["deps"] = {
    provider: options.fallback ? withFallback(options.provider, options.fallback) : options.provider,
    budget,
    contextWindow: () => (contextWindow ??= windowOf(options, model)),
    answerSchema,
    request,
    maxTurns: options.maxTurns,
    tools,
    workspace,
    memory: createToolMemory(),
    policy: () => policy.current,
    remember: (actions, scope) => policy.remember(actions, scope),
    ...(options.audit && { audit: (entry: AuditEntry) => options.audit?.(redactor.value(entry)) }),
    irreversible: irreversibleCalls(options),
    gate,
    answerable: options.answersPermissions ?? false,
    outputLimit: options.outputLimit ?? defaultOutputLimit,
    redactor,
    newId: options.newId ?? createIdSeries(),
    clock: monotonicMs,
    agent: options.agent,
  };
  const hooks =
    hookSet &&
    hooking?.openHooks(hookSet, {
      sessionId: id,
      transcript: journal.location,
      deps,
      variables: options.hookSettings?.variables,
    });
  const bound = hooks ? { ...deps, hooks } : deps;
  const compaction = new SessionCompaction({
    settings: compactionSettings(options),
    deps: bound,
    now: options.now ?? Date.now,
  });
  const facts: SessionFacts = {
    cwd: workspace.root,
    model,
    tools: names,
    permissionMode: policy.current.mode,
    version: OUTRIDER_VERSION,
    ...(options.settingSources && { settingSources: [...options.settingSources] }),
    ...(opened.sandbox !== undefined && { sandbox: opened.sandbox }),
    ...instructionFacts(options),
    ...(tools.has("Task") && { agents: agents.map(({ name }) => name) }),
  };
  return {
    journal,
    workspace,
    system,
    toolDefinitions,
    facts,
    controlled: { facts, request, tools, policy },
    checkpoints: options.checkpoints && new TurnCheckpoints(options.checkpoints, { resumed: journal.events.length > 0 }),
    deps: bound,
    warnings: [
      ...(options.warnings ?? []),
      ...opened.warnings,
      ...(hookSet?.warnings ?? []),
      ...(options.instructions?.warnings ?? []),
    ],
    onWarning: opened.onWarning,
    compaction,
    subagents: tools.has("Task") ? openSubagents(options, compaction) : undefined,
  };
}

function openSubagents(options: SessionOptions, compaction: SessionCompaction): Subagents {
  return new Subagents({
    instructions: options.instructions?.text,
    compaction: () => ({ ...compactionSettings(options), threshold: compaction.threshold }),
    contextWindowOf: (model) => windowOf(options, model),
    listModels: async (provider) => {
      const { catalogOf, listModels } = await import("../model/pricing.ts");
      return listModels(await catalogOf(options.catalogOverride), provider).map(({ id }) => id);
    },
    allowUnknownPrice: options.allowUnknownPrice ?? false,
    now: options.now ?? Date.now,
  });
}

function instructionFacts({ instructions }: SessionOptions): Pick<SessionFacts, "instructionFiles"> {
  if (!instructions || instructions.files.length === 0) return {};
  return { instructionFiles: instructions.files.map(({ path, bytes }) => ({ path, bytes })) };
}

function irreversibleCalls({ reversibleExecution, checkpoints }: SessionOptions): TurnDeps["irreversible"] {
  if (!reversibleExecution) return undefined;
  return ({ name, input }) => {
    const call = { toolName: name, input, checkpointed: checkpoints !== undefined, options: reversibleExecution };
    const report = evaluateReversibleSafety(call);
    return isBlockedByReversibility(report, reversibleExecution) ? report.message : undefined;
  };
}

function compactionSettings({ instructions, compaction }: SessionOptions): Partial<CompactionSettings> {
  const own = instructions?.compactInstructions;
  return { ...(own !== undefined && { instructions: own }), ...compaction };
}

async function windowOf(options: SessionOptions, { provider, id }: ModelRef): Promise<number> {
  const { contextWindow, contextWindowIsGuess } = options.provider;
  if (!contextWindowIsGuess) return contextWindow;
  const { catalogOf, findBilledModel } = await import("../model/pricing.ts");
  const facts = findBilledModel(await catalogOf(options.catalogOverride), { provider, served: id, requested: id });
  return facts?.contextWindow ?? contextWindow;
}

async function openBudget(options: SessionOptions, limitUsd: number, model: ModelRef): Promise<Budget> {
  if (!Number.isFinite(limitUsd) || limitUsd <= 0)
    throw new RuntimeError("usage", `A budget is a number of dollars above 0, not ${limitUsd}`);
  const { catalogOf, findBilledModel, priceOf } = await import("../model/pricing.ts");
  const catalog = await catalogOf(options.catalogOverride);
  const { provider } = model;
  if (!options.allowUnknownPrice && !findBilledModel(catalog, { provider, served: model.id, requested: model.id })?.price) {
    throw new RuntimeError("config", `The price of ${provider}/${model.id} is not known, so a budget cannot be kept`, {
      hint: "Add its price to models.json, or go on with --allow-unknown-price",
    });
  }
  const now = options.now ?? Date.now;
  return createBudget(limitUsd, ({ model: served, usage }, requested) =>
    priceOf(findBilledModel(catalog, { provider: served.provider, served: served.id, requested }), usage, new Date(now())),
  );
}

async function openJournal(options: SessionOptions, id: string): Promise<JournalWriter> {
  const journal = await (options.sessionStore ?? createMemoryStore()).open(id);
  const exists = journal.events.length > 0;
  if (options.resumeSessionId !== undefined && !exists) {
    await journal.close();
    throw new RuntimeError("not-found", `There is no session ${id}`);
  }
  if (options.resumeSessionId === undefined && exists) {
    await journal.close();
    throw new RuntimeError("usage", `Session ${id} exists already`, { hint: "Choose another session id, or resume this one" });
  }
  return journal;
}

function offeredTools(options: SessionOptions, agents: readonly AgentDefinition[]): Map<string, Tool> {
  const { builtinTools: wanted } = options;
  const isWanted = (name: string): boolean => wanted === undefined || wanted.includes(name);
  const builtin = createBuiltinTools(options.webSearch ? { webSearch: options.webSearch } : {}).filter(({ name }) =>
    isWanted(name),
  );
  const tools = new Map([...builtin, ...(options.tools ?? [])].map((tool) => [tool.name, tool]));
  const taken = toRules(options.disallowedTools, "disallowedTools").filter((rule) => rule.pattern === undefined);
  for (const rule of taken) tools.delete(rule.tool);
  if (agents.length === 0 || !taskNames.some(isWanted) || taken.some(({ tool }) => taskNames.includes(tool))) return tools;
  const task = createTaskTool(agents);
  for (const name of taskNames) tools.set(name, task);
  return tools;
}

/** It is offered under the first; models that know it under the other one are understood. */
const taskNames: readonly string[] = ["Task", "Agent"];

/** What the model is offered: the tools, and the one it answers with where its provider cannot be given a schema. */
function definitionsOf(tools: ReadonlyMap<string, Tool>, answerSchema: AnswerSchema | undefined): ToolDefinition[] {
  const answerTool = answerSchema && new StructuredAnswer(answerSchema).tool;
  const offered = [...new Set(tools.values()), ...(answerTool ? [answerTool] : [])];
  return offered.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
}

function toRules(texts: readonly string[] | undefined, source: string): Rule[] {
  return (texts ?? []).map((text) => parseRule(text, source));
}

/** A resumed session keeps its prompt to the letter, so that providers still find it in their cache. */
function storedSystem(options: SessionOptions, events: readonly AgentEvent[]): string | undefined {
  if (options.systemPrompt !== undefined || options.appendSystemPrompt !== undefined) return undefined;
  return events.findLast((event) => event.type === "session.started")?.system;
}

function systemPromptOf(options: SessionOptions, cwd: string, tools: readonly string[]): string {
  const date = new Date((options.now ?? Date.now)());
  const { language, instructions, appendSystemPrompt } = options;
  const facts = { cwd, platform: process.platform, date, tools, ...(language !== undefined && { language }) };
  const system = options.systemPrompt ?? buildSystemPrompt(facts);
  return [system, instructions?.text, appendSystemPrompt].filter(Boolean).join("\n\n");
}
