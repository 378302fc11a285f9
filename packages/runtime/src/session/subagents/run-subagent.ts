import { storedEnvironment } from "../../context/environment.ts";
import type { SessionDeps, SubagentRef } from "../../engine/deps.ts";
import { runTurn, type TurnReport } from "../../engine/turn.ts";
import { Transcript } from "../../journal/transcript.ts";
import { addUsage, callsOf, noUsage, type ToolDefinition } from "../../protocol/content.ts";
import type { Denial, Emit, EventBody } from "../../protocol/events.ts";
import { stricterMode, toolsOf } from "../../tasks/agent-limits.ts";
import { least } from "../../util/least.ts";
import { chooseModel } from "../../tasks/choose-model.ts";
import { buildSubagentPrompt } from "../../tasks/subagent-prompt.ts";
import type { TaskEnd } from "../../tasks/task.ts";
import { shareTaskInputs } from "../../tools/task-inputs.ts";
import { createToolMemory, runsCommands, type Tool, ToolFailure } from "../../tools/tool.ts";
import { SessionCompaction } from "../prompts/session-compaction.ts";
import type { SecondRoot } from "../files/second-root.ts";
import { deferredToolsOf } from "../deferred-tools.ts";
import { environmentFor, isOffered, sessionLines } from "../session-prompt.ts";
import type { AgentWorktree } from "./agent-worktree.ts";
import type { OwnParts } from "./own-parts.ts";
import type { PreloadedSkills } from "./preload-skills.ts";
import type { SubagentOptions, SubagentRun } from "./subagents.ts";
import { defined } from "../../util/defined.ts";

/**
 * One task to its end, in a turn of its own: the session's engine, workspace, rules, answerers, hooks and budget; its own prompt, context
 * and memory. Everything it does is told with its `taskId`. Rejects only when it cannot begin; how it went is in what it answers.
 */
export async function runSubagent(run: SubagentRun, options: SubagentOptions): Promise<TaskEnd> {
  const { taskId, spec, place } = run;
  const isIsolated = (spec.isolation ?? spec.agent.isolation) === "worktree" && spec.root === undefined;
  const worktree = isIsolated ? await isolate(run, place.emitFrom(taskId)) : undefined;
  let own: OwnParts | undefined;
  try {
    own = spec.agent.hooks || spec.agent.mcpServers ? await openOwnParts(run, options) : undefined;
    return await work(run, options, { worktree, own });
  } finally {
    await own?.close();
    await worktree?.settle();
  }
}

type Parts = { readonly worktree: AgentWorktree | undefined; readonly own: OwnParts | undefined };

async function openOwnParts({ taskId, spec, place }: SubagentRun, options: SubagentOptions): Promise<OwnParts> {
  const parts = await import("./own-parts.ts");
  return await parts.openOwnParts(spec.agent, { taskId, hooks: place.deps.hooks, ...options });
}

async function isolate(run: SubagentRun, tell: Emit): Promise<AgentWorktree> {
  const { openAgentWorktree } = await import("./agent-worktree.ts");
  return await openAgentWorktree(run, tell);
}

async function work(run: SubagentRun, options: SubagentOptions, { worktree, own }: Parts): Promise<TaskEnd> {
  const { taskId, spec, place, signal, shared, beside } = run;
  const { callId, agent, description, prompt } = spec;
  const { model, warning } = await modelOf(run, options);
  const told = place.emitFrom(taskId);
  const tell: Emit = (event) => {
    told(event);
    beside?.hear(event);
  };
  const root = worktree?.cwd ?? spec.root;
  const second = root === undefined ? undefined : await openRoot(root, run, options);
  const share = shared?.join(place.deps.provider);
  const granted = toolsOf(agent, place.deps.tools.values());
  const tools = [...granted.tools, ...(own?.tools ?? [])];
  const given = { ...(second?.deps ?? place.deps), ...(share && { provider: share.provider }) };
  const preloaded = agent.skills ? await preload(agent.skills, { given, options }) : undefined;
  const memory =
    agent.memoryFolder === undefined ? undefined : (await import("../../tasks/agent-memory.ts")).describeMemory(agent);
  const texts = [...(memory === undefined ? [] : [memory]), ...(preloaded?.texts ?? [])];
  const rules = { deny: [...granted.deny, ...(own?.deny ?? [])], ask: own?.ask ?? [] };
  const deps = childDeps(given, { run, model, tools, ...rules, options, texts });
  const { system } = deps.request;
  const startedAt = deps.clock();
  let isLeft = false;
  /** What was started there ends before anybody says what is in it. */
  const leave = async (): Promise<void> => {
    if (isLeft) return;
    isLeft = true;
    const lapse = await second?.keeper?.end();
    if (lapse !== undefined) tell({ type: "warning.raised", message: lapse });
    await second?.close();
  };
  try {
    const started: EventBody<"task.started"> = {
      type: "task.started",
      taskId,
      callId,
      agent: agent.name,
      description,
      prompt,
      model: { provider: deps.provider.name, id: model },
      system,
      tools: tools.map(({ name }) => name),
      permissionMode: deps.policy().mode,
      runId: run.runId,
      ...defined({ name: spec.name }),
      ...(beside && { background: true, ...defined({ outputFile: beside.outputFile }) }),
    };
    tell(started);
    const warnings = [...granted.warnings, ...(warning === undefined ? [] : [warning]), ...(worktree?.warnings ?? [])];
    for (const message of [...warnings, ...(preloaded?.warnings ?? []), ...(own?.warnings ?? [])])
      tell({ type: "warning.raised", message });
    for (const activation of preloaded?.activations ?? []) tell({ type: "skill.activated", ...activation });
    await place.flush();
    beside?.began();
    const transcript = new Transcript(taskId);
    for (const event of run.past ?? []) transcript.apply(event);
    transcript.apply({ ...deps.redactor.value(started), taskId });
    const denials = new Denials(tell);
    const emit: Emit = (event) => denials.emit(event);
    const settings = options.compaction();
    const turn = async (from: Transcript): Promise<TurnReport> =>
      await runTurn(
        deps,
        {
          signal,
          emit,
          fit: new SessionCompaction({ settings, deps, now: options.now }).fit({ emit, signal, transcript: from }),
          flush: place.flush,
          congestion: place.congestion,
          takeInput: beside?.takeInput,
          keeper: second ? second.keeper : beside ? place.besideKeeper() : place.keeper,
          interrupt: beside?.interrupt ?? place.interrupt,
        },
        from.messages,
      );
    let report = await turn(transcript);
    // What came in too late for its last request, it is told now.
    for (let late = beside?.takeInput() ?? []; late.length > 0 && report.outcome.type === "completed"; ) {
      for (const input of late) emit({ type: "input.added", ...input });
      report = together(report, await turn(await transcriptOf(run)));
      late = beside?.takeInput() ?? [];
    }
    beside?.endInput();
    const end = {
      outcome: report.outcome,
      usage: report.usage,
      modelCalls: report.modelCalls,
      durationMs: Math.round(deps.clock() - startedAt),
    };
    await leave();
    const left = await worktree?.settle();
    if (left) tell({ type: "worktree.inspected", ...left });
    tell({ type: "task.ended", taskId, callId, ...end });
    return { ...end, denials: denials.list, worktree: left };
  } finally {
    await leave();
    share?.leave();
  }
}

/** Its conversation as it stands on record. */
async function transcriptOf({ taskId, place }: SubagentRun): Promise<Transcript> {
  const transcript = new Transcript(taskId);
  for (const event of await place.readEvents()) transcript.apply(event);
  return transcript;
}

function together(first: TurnReport, { outcome, usage, modelCalls, modelDurationMs }: TurnReport): TurnReport {
  return {
    outcome,
    usage: addUsage(first.usage, usage),
    modelCalls: first.modelCalls + modelCalls,
    modelDurationMs: first.modelDurationMs + modelDurationMs,
  };
}

async function openRoot(root: string, { taskId, spec, place }: SubagentRun, options: SubagentOptions): Promise<SecondRoot> {
  const { openSecondRoot } = await import("../files/second-root.ts");
  return await openSecondRoot({ root, taskId, prompt: spec.description }, place.deps, options.secondRoot);
}

type Preloading = { readonly given: SessionDeps; readonly options: SubagentOptions };

async function preload(names: readonly string[], { given, options }: Preloading): Promise<PreloadedSkills> {
  const { preloadSkills } = await import("./preload-skills.ts");
  return await preloadSkills(names, { deps: given, skills: options.skills, sessionId: options.sessionId });
}

async function modelOf({ spec, place }: SubagentRun, options: SubagentOptions): Promise<{ model: string; warning?: string }> {
  const { provider, request } = place.deps;
  const { budget } = provider.ledger;
  const wanted = spec.model ?? spec.agent.model ?? options.usualModel;
  const known = await options.knownModels(provider.name, wanted);
  const choice = chooseModel(wanted, { provider: provider.name, id: request.model }, known);
  const isUnpriced =
    budget?.price({ model: { provider: provider.name, id: choice.model }, usage: { ...noUsage } }, choice.model) === null;
  if (isUnpriced && !options.allowUnknownPrice && choice.model !== request.model)
    throw new ToolFailure(
      `The price of ${provider.name}/${choice.model} is not known, so the session's budget cannot be kept. Use the session's own model.`,
    );
  return choice;
}

type Child = {
  readonly run: SubagentRun;
  readonly model: string;
  readonly tools: readonly Tool[];
  readonly deny: ReturnType<SessionDeps["policy"]>["deny"];
  readonly options: SubagentOptions;
  readonly ask: ReturnType<SessionDeps["policy"]>["ask"];
  readonly texts: readonly string[];
};

/** The session's deps, narrowed. */
function childDeps(deps: SessionDeps, { run, model, tools, deny, ask, options, texts }: Child): SessionDeps {
  const { agent } = run.spec;
  const reference: SubagentRef = { id: run.taskId, type: agent.name };
  const policy: SessionDeps["policy"] = () => {
    const session = deps.policy();
    return {
      ...session,
      mode: stricterMode(session.mode, agent.permissionMode),
      deny: [...session.deny, ...deny],
      ask: [...session.ask, ...ask],
    };
  };
  const offered = tools.filter((tool) => isOffered(tool, policy()));
  const shown = offered.filter(({ deferred }) => !deferred);
  const definitions = shown.map(({ name, description, inputSchema }): ToolDefinition => ({ name, description, inputSchema }));
  const named = new Map(tools.map((tool) => [tool.name, tool]));
  const runs = runsCommands(tools);
  // A stricter mode of its own may ask where the session would not even do that.
  const answerable = deps.answerable && deps.policy().mode !== "dontAsk";
  const system = deps.redactor.text(
    buildSubagentPrompt({
      prompt: agent.prompt,
      environment: environmentIn(run, deps) ?? environmentFor(options, deps.workspace.root, runs),
      session: sessionLines({ answersPermissions: answerable }, model, { policy, places: options.sandbox, runs }),
      instructions: agent.omitInstructions ? undefined : options.instructions,
      texts,
    }),
  );
  return {
    ...deps,
    request: { ...deps.request, model, system, tools: definitions, ...defined({ effort: run.spec.effort ?? agent.effort }) },
    contextWindow:
      model === deps.request.model
        ? deps.contextWindow
        : () => options.contextWindowOf({ provider: deps.provider.name, id: model }),
    maxTurns: least(deps.maxTurns, agent.maxTurns),
    answerSchema: undefined,
    tools: named,
    memory: shareTaskInputs(deps.memory, createToolMemory()),
    deferredTools: deferredToolsOf(named, definitions),
    nested: agent.omitInstructions ? undefined : deps.nested && { instructions: deps.nested.instructions, earlier: () => [] },
    skillsOfFiles: undefined, // it has no tool to use them with
    policy,
    answerable,
    agent: reference,
    hooks: deps.hooks?.ofAgent(reference, () => policy().mode),
  };
}

/** In the session's own folder, what the session knows of it. */
function environmentIn({ spec }: SubagentRun, { request }: SessionDeps): string | undefined {
  return spec.root === undefined ? storedEnvironment(request.system) : undefined;
}

/** Hears of the calls that were refused on their way into the record. */
class Denials {
  readonly list: Denial[] = [];
  readonly #tell: Emit;
  readonly #inputs = new Map<string, unknown>();

  constructor(tell: Emit) {
    this.#tell = tell;
  }

  emit(event: EventBody): void {
    this.#tell(event);
    if (event.type === "message.ended") for (const call of callsOf(event.message)) this.#inputs.set(call.callId, call.input);
    if (event.type === "permission.decided" && event.effect === "deny")
      this.list.push({ callId: event.callId, tool: event.tool, input: this.#inputs.get(event.callId), reason: event.reason });
  }
}
