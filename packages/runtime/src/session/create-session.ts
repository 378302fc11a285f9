import type { BackgroundTaskState } from "../protocol/background-task.ts";
import { dirname } from "node:path";
import { type CompactionSettings, checkThreshold, defaultThreshold } from "../context/compaction-limits.ts";
import type { InstructionFile, Instructions } from "../context/instructions.ts";
import type { NestedState } from "../context/nested-state.ts";
import { shownInstructions } from "../journal/shown-instructions.ts";
import type { AnswerSchema } from "../engine/structured-output.ts";
import type { AuditEntry, SessionDeps } from "../engine/deps.ts";
import { toLoopLimits } from "../engine/repeated-calls.ts";
import { standingAt } from "../journal/standing-events.ts";
import type { JournalWriter, StoredEvents } from "../journal/store.ts";
import type { Provider } from "../model/model.ts";
import { defaultMaxRequests, RequestLedger } from "../model/request-ledger.ts";
import { sendableProvider } from "../model/sendable/sendable-provider.ts";
import type { PermissionGate } from "../permissions/gate.ts";
import type { JsonValue, ToolDefinition } from "../protocol/content.ts";
import type { Emit, SessionFacts } from "../protocol/events.ts";
import type { FactsOf } from "../protocol/tool-facts.ts";
import type { KnownModels } from "../tasks/choose-model.ts";
import { type AgentDefinition, builtinAgents, mergeAgents } from "../tasks/agent-definition.ts";
import { factsAmong } from "../tools/builtin/facts.ts";
import { masksIn } from "../tools/hidden-values.ts";
import { defaultOutputLimit } from "../tools/output-limit.ts";
import type { SchemaSource } from "../tools/standard-schema.ts";
import { createToolMemory } from "../tools/tool.ts";
import { userEnvironment } from "../workspace/environment.ts";
import { monotonicMs } from "../util/monotonic-clock.ts";
import { createRedactor } from "../util/redact.ts";
import { windowOf } from "./prompts/context-window.ts";
import { sessionFolders } from "./files/session-folders.ts";
import { describePlaces } from "./files/command-places.ts";
import type { BackgroundProcessDeps } from "../tools/builtin/background-process.ts";
import type { ExecuteCommand } from "./commands/command-tools.ts";
import { SessionCommands } from "./prompts/session-commands.ts";
import type { OfferedSkills } from "./skills/offer-skills.ts";
import { SessionReferences } from "./references/session-references.ts";
import type { SessionSkills } from "./skills/session-skills.ts";
import { SessionCompaction } from "./prompts/session-compaction.ts";
import type { Controlled } from "./session-controls.ts";
import { outputsShown } from "./events/shown-outputs.ts";
import { type SubagentOptions, Subagents } from "./subagents/subagents.ts";
import { checkSessionId } from "../journal/store-place.ts";
import { openGround } from "./session-ground.ts";
import { bindHooks, type ChangingHooks, loadSessionHooks } from "./session-hooks.ts";
import { deferredToolsOf } from "./deferred-tools.ts";
import { openPrompt } from "./session-prompt.ts";
import type { SessionPolicy } from "./session-policy.ts";
import { TurnCheckpoints, turnsSinceChange } from "./files/turn-checkpoints.ts";
import { modelsOf } from "./known-models.ts";
import { checkProhibitions, definitionsOf, offeredTools, offersOf, takenAway } from "./offer-tools.ts";
import { modelIn, openRequest } from "./next-request.ts";
import { openJournal } from "./open-journal.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { SessionOptions } from "./session-options.ts";
import { defined } from "../util/defined.ts";

/** Everything a turn needs that stays the same for the whole session. */
export type OpenSession = {
  readonly journal: JournalWriter;
  /** What of the journal is the conversation so far. */
  readonly past: StoredEvents;
  readonly workspace: Workspace;
  readonly facts: SessionFacts;
  readonly system: string;
  readonly toolDefinitions: ToolDefinition[];
  readonly deps: SessionDeps;
  readonly compaction: SessionCompaction;
  /** Folders that nobody named and that go with the session. */
  readonly temporary: { remove(): void };
  /** Where tasks that outlive their call leave what they print. */
  readonly taskFolder: string;
  readonly subagents: Subagents;
  /** Those that may be started. */
  agents: readonly AgentDefinition[];
  readonly skills: SessionSkills;
  readonly references: SessionReferences;
  /** Lets the model use skills in a turn; absent where it may use none. */
  skillUses: OfferedSkills["uses"] | undefined;
  readonly hooks: ChangingHooks;
  /** The ids of all models the provider is known to have. */
  readonly knownModels: (provider: string, wanted: string | undefined) => Promise<KnownModels>;
  readonly checkpoints: TurnCheckpoints | undefined;
  readonly worktree: SessionOptions["worktree"];
  readonly setup: SessionOptions["setup"];
  /** What a host may change. */
  readonly controlled: Controlled;
  readonly instructionFiles: readonly InstructionFile[];
  /** What a person should know of the options the session was opened with. */
  readonly warnings: readonly string[];
  /** Hears what turns out later, such as a sandbox that does not work. */
  onWarning(listener: (message: string) => void): void;
};

/** What is there before the session is open. */
export type SessionParts = {
  readonly gate: PermissionGate;
  readonly skills: SessionSkills;
  /** Runs a command of the program that the model has called. */
  readonly execute: ExecuteCommand;
  /** What goes on beside the conversation. */
  readonly tasks: () => readonly BackgroundTaskState[];
  /** What the session is called, if it is. */
  readonly title: () => string | undefined;
  /** Starts a task beside the conversation. */
  readonly spawn: BackgroundProcessDeps["spawn"];
};

/** Puts the parts of a session together: complete options in, journal, workspace, rules, tools and engine out. */
export async function createSession(
  options: SessionOptions & { readonly newId: () => string },
  id: string,
  { gate, skills, execute, tasks, title, spawn }: SessionParts,
): Promise<OpenSession> {
  checkSessionId(id);
  const { passEnv = [] } = options;
  const env = options.env ?? userEnvironment(process.env, { keep: passEnv });
  const home = options.home ?? env["HOME"];
  const folders = sessionFolders(options, id, env["TMPDIR"] ?? "/tmp");
  const agents = options.agent ? [] : mergeAgents([options.agents ?? [], options.builtinAgents ? builtinAgents : []]);
  const tools = await offeredTools(options, agents, { parentSessionId: id, spawn });
  const { projected } = new SessionCommands(options, skills);
  if (projected.length > 0) {
    const { createCommandTools } = await import("./commands/command-tools.ts");
    for (const tool of createCommandTools(projected, execute)) tools.set(tool.name, tool);
  }
  const offering = skills.all.length > 0 ? await import("./skills/offer-skills.ts") : undefined;
  const offeredSkills = offering?.offerSkills(options, { skills, tools, taken: takenAway(options) });
  await checkProhibitions(options, [...tools.keys()]);
  const { opened, rules, exported } = await openGround(options, {
    ...{ env, home, overflowDirectory: folders.overflow, temporaryFolder: folders.temporary },
  });
  const redactor = options.redactor ?? createRedactor({ env: process.env });
  const workspace = outputsShown(opened.workspace, redactor);
  const model = { provider: options.provider.name, id: modelIn(rules.current.mode, options) };
  const budget =
    options.maxBudgetUsd === undefined
      ? undefined
      : await (await import("./prompts/model-limits.ts")).openBudget(options, options.maxBudgetUsd, model);
  const ledger = new RequestLedger({ maxRequests: options.maxRequests ?? defaultMaxRequests(options.maxTurns), budget });
  const loops = toLoopLimits(options.loops);
  const answerSchema = options.outputSchema && (await answerSchemaOf(options.outputSchema, options.provider));
  const hookSet = await loadSessionHooks(options, skills);
  checkThreshold(options.compaction?.threshold ?? defaultThreshold);
  // Only now: options that are refused must leave no journal behind.
  const journal = await openJournal(options, id);
  const past = standingAt(journal.events, options.resumeAt);
  // Of a secret found by its looks only the mask is on record: it must not be written in an earlier secret's place either.
  if (past.length > 0) redactor.recall(() => [...past].flatMap((event) => masksIn(JSON.stringify(event))));
  const definitions = definitionsOf(tools, answerSchema);
  const placesLine = (): string | undefined => describePlaces(opened.places, rules.current.mode);
  const startsAgents = [...tools.values()].some(({ facts }) => facts?.startsAgents);
  const prompt = await openPrompt(options, model.id, {
    ...{ root: workspace.root, redactor, tools, policy: () => rules.current, places: placesLine },
    skills: offeredSkills?.section,
    stored: past.last("session.started")?.system,
  });
  const { request, facts, refresh, followMode, contextWindow } = openRequest(options, {
    ...{ model, prompt, tools, definitions, rules, root: workspace.root, places: opened.places },
    agents: startsAgents ? agents.map(({ name }) => name) : undefined,
  });
  const deps: SessionDeps = {
    provider: ledger.count(
      sendableProvider(
        options.fallback
          ? (await import("../model/fallback.ts")).withFallback(options.provider, options.fallback)
          : options.provider,
        options.catalogOverride &&
          (await import("../model/capabilities/overrides.ts")).capabilitiesFrom(options.catalogOverride, options.provider.name),
      ),
    ),
    loops,
    contextWindow,
    answerSchema,
    request,
    maxTurns: options.maxTurns,
    tools,
    workspace,
    memory: createToolMemory(),
    deferredTools: deferredToolsOf(tools, request.tools),
    nested: options.instructions?.below && !options.sandboxClient ? nestedIn(options.instructions, past) : undefined,
    skillsOfFiles:
      options.sandboxClient || options.agent ? undefined : skills.ofFiles(workspace.root, () => offeredSkills !== undefined),
    policy: () => skills.judgeBy(rules.current),
    remember: (actions, scope) => rules.remember(actions, scope),
    updatePermissions: (updates, emit) => applyUpdates(updates, { rules, followMode, emit }),
    toolAliases: options.toolAliases,
    ...(options.audit && { audit: (entry: AuditEntry) => options.audit?.(redactor.value(entry)) }),
    irreversible:
      options.reversibleExecution &&
      (await (
        await import("./files/irreversible-calls.ts")
      ).irreversibleCalls(options, {
        chosen: options.reversibleExecution,
        factsOf: factsAmong(tools),
      })),
    gate,
    answerable: options.answersPermissions ?? false,
    outputLimit: options.outputLimit ?? defaultOutputLimit,
    traceparent: options.traceparent,
    redactor,
    newId: options.newId,
    clock: monotonicMs,
    agent: options.agent,
    maxObjections: options.maxObjections,
  };
  const giveVariables = (variables: Readonly<Record<string, string>>): void => {
    exported.replace(variables);
    rules.followVariables({ ...env, ...variables });
  };
  const hookPlace = {
    sessionId: id,
    transcript: options.transcriptPath ?? journal.location,
    isCopy: options.transcriptPath !== undefined,
    deps,
    ...{ tasks, title },
    exportVariables: options.sandboxClient ? undefined : giveVariables,
  };
  const { bound, ...hooks } = bindHooks(deps, { options, set: hookSet, place: hookPlace });
  const compaction = new SessionCompaction({
    settings: compactionSettings(options),
    deps: bound,
    now: options.now ?? Date.now,
  });
  const checkpoints = keptTurns(options, journal, factsAmong(tools));
  const taskFolder = folders.tasks(journal.location);
  return {
    journal,
    past,
    workspace,
    system: prompt.system,
    toolDefinitions: request.tools,
    facts,
    controlled: {
      ...{ facts, followMode, refresh, request, definitions, tools, parts: prompt.parts, offers: offersOf(options) },
      ...{ policy: rules, checkpoints, workspace, memory: deps.memory, hooks: () => bound.hooks },
    },
    checkpoints,
    worktree: options.worktree,
    setup: options.setup,
    instructionFiles: options.instructions?.files ?? [],
    deps: bound,
    warnings: [
      ...(options.warnings ?? []),
      ...opened.warnings,
      ...(hookSet?.set.warnings ?? []),
      ...(options.instructions?.warnings ?? []),
    ],
    onWarning: opened.onWarning,
    compaction,
    temporary: folders.own(),
    taskFolder,
    subagents: openSubagents(options, {
      compaction,
      skills,
      sandbox: placesLine,
      env: () => ({ ...env, ...exported.all }),
      sessionId: id,
      taskFolder,
    }),
    agents: mergeAgents([agents, builtinAgents]),
    skills,
    references: new SessionReferences(past, { isDiscreet: options.promptsFrom === "strangers" }),
    skillUses: offeredSkills?.uses,
    hooks,
    knownModels: (provider, wanted) => modelsOf(options, provider, wanted),
  };
}

/** What the conversation shows of them already is on record, up to what compaction took away. */
function nestedIn(instructions: Instructions, past: StoredEvents): NestedState {
  return { instructions, earlier: () => shownInstructions(past.of("tool.ended", "context.cleared", "compaction.ended")) };
}

/** As an answer of a host has them; what was not done as asked is answered. */
async function applyUpdates(
  updates: readonly JsonValue[],
  { rules, followMode, emit }: { rules: SessionPolicy; followMode: Controlled["followMode"]; emit: Emit },
): Promise<string[]> {
  const { parsePermissionUpdate } = await import("../permissions/permission-update.ts");
  const notes: string[] = [];
  const before = rules.current.mode;
  for (const update of updates.map(parsePermissionUpdate)) notes.push(...(await rules.apply(update)));
  if (rules.current.mode !== before) emit({ type: "session.changed", ...followMode() });
  return notes;
}

function openSubagents(
  options: SessionOptions,
  {
    compaction,
    skills,
    sandbox,
    env,
    sessionId,
    taskFolder,
  }: Pick<SubagentOptions, "sandbox" | "sessionId" | "skills"> & {
    compaction: SessionCompaction;
    env: () => Record<string, string>;
    taskFolder: string;
  },
): Subagents {
  const { checkpoints, sandboxClient, permissions, subagentRunnerFactory: runner } = options;
  return new Subagents({
    secondRoot: { checkpoints, sandboxClient, permissions, env },
    sandbox,
    instructions: options.instructions?.text,
    hookSettings: options.hookSettings,
    openServers: options.openServers,
    skills,
    compaction: () => ({ ...compactionSettings(options), threshold: compaction.threshold }),
    contextWindowOf: (model) => windowOf(options, model),
    knownModels: (provider, wanted) => modelsOf(options, provider, wanted),
    usualModel: options.subagentModel,
    allowUnknownPrice: options.allowUnknownPrice ?? false,
    now: options.now ?? Date.now,
    sessionId,
    runner: runner && (() => runner({ parent: options, logsDir: dirname(taskFolder) })),
  });
}

async function answerSchemaOf(source: SchemaSource, provider: Provider): Promise<AnswerSchema> {
  const [{ parseSchema }, { toCheck, toJsonSchema }, { toAnswerSchema }] = await Promise.all([
    import("../tools/schema.ts"),
    import("../tools/library-schema.ts"),
    import("../engine/structured-output.ts"),
  ]);
  const schema = parseSchema(toJsonSchema(source));
  const isNative = provider.nativeSchema && (provider.fitsSchema?.(schema) ?? true);
  return toAnswerSchema(schema, isNative, toCheck(source));
}

function compactionSettings({ instructions, compaction }: SessionOptions): Partial<CompactionSettings> {
  const own = instructions?.compactInstructions;
  return { ...defined({ instructions: own }), ...compaction };
}

/** Files on another machine are not this one's to keep. */
function keptTurns(
  { checkpoints, sandboxClient }: SessionOptions,
  { events }: JournalWriter,
  factsOf: FactsOf,
): TurnCheckpoints | undefined {
  if (!checkpoints || sandboxClient) return undefined;
  return new TurnCheckpoints(() => checkpoints(), { resumed: events.length > 0, past: () => turnsSinceChange(events, factsOf) });
}
