import { evaluateReversibleSafety, isBlockedByReversibility } from "../checkpoints/reversible-execution.ts";
import { type CompactionSettings, checkThreshold, defaultThreshold } from "../context/compaction-limits.ts";
import { buildSystemPrompt } from "../context/system-prompt.ts";
import { type AnswerSchema, StructuredAnswer, toAnswerSchema } from "../engine/structured-output.ts";
import type { AuditEntry } from "../engine/judge-call.ts";
import type { TurnDeps } from "../engine/turn.ts";
import { createMemoryStore } from "../journal/memory-store.ts";
import type { JournalWriter } from "../journal/store.ts";
import { withFallback } from "../model/fallback.ts";
import type { PermissionGate } from "../permissions/gate.ts";
import { parseRule, type Rule } from "../permissions/rules.ts";
import type { ToolDefinition } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent, SessionFacts } from "../protocol/events.ts";
import { type AgentDefinition, builtinAgents, mergeAgents } from "../tasks/agent-definition.ts";
import { createBuiltinTools } from "../tools/builtin/builtin-tools.ts";
import { createTaskTool } from "../tools/builtin/task.ts";
import { defaultOutputLimit } from "../tools/output-limit.ts";
import { parseSchema, toJsonSchema } from "../tools/schema.ts";
import { isPublicAddress } from "../tools/web-address.ts";
import { createToolMemory, type Tool } from "../tools/tool.ts";
import { scrubEnvironment } from "../workspace/environment.ts";
import { monotonicMs } from "../util/monotonic-clock.ts";
import { createRedactor } from "../util/redact.ts";
import { createIdSeries } from "../util/unique-ids.ts";
import { openWorkspace } from "../workspace/open-workspace.ts";
import { SessionCompaction } from "./session-compaction.ts";
import type { Controlled } from "./session-controls.ts";
import { Subagents } from "./subagents.ts";
import { SessionPolicy } from "./session-policy.ts";
import { TurnCheckpoints } from "./turn-checkpoints.ts";
import type { Workspace } from "../workspace/workspace.ts";

import { openBudget, windowOf } from "./model-limits.ts";
import type { SessionOptions } from "./session-options.ts";

declare const OUTRIDER_VERSION: string;

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
