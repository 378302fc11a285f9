import { statSync } from "node:fs";
import { type JsonObject, RuntimeError, type SessionOptions } from "@outrider/runtime";
import type { ModelRecord } from "@outrider/runtime/admin";
import { beginServers, openSession, type OpenedSession, type SessionPlan } from "@outrider/runtime/host";
import { listCommands, type LiveSession, type LiveSetup, type LiveWays, type PromptsView } from "@outrider/runtime/live";
import { type McpServerConfig, type McpServerConfigs, parseMcpServers } from "@outrider/runtime/mcp";
import { openCopy } from "./claude-sessions.ts";
import { watchDebug } from "./debug-log.ts";
import type { FlagValues } from "../flags/flags.ts";
import type { Warnings } from "./framed-warnings.ts";
import { createOutputFormat } from "./output-format.ts";
import { surroundings } from "../request/plan-run.ts";

export type LiveOpening = {
  readonly flags: FlagValues;
  readonly plan: SessionPlan;
  readonly setup: LiveSetup;
  readonly ways: LiveWays;
  readonly prompts: PromptsView;
  readonly warnings: Warnings;
  /** Aborted when nothing that still takes time is worth it. */
  readonly giveUp: AbortSignal;
};

/** The session that a host drives: what the flags say, and over it what the host asked for in `initialize`. */
export async function openLiveSession(opening: LiveOpening): Promise<LiveSession & Pick<OpenedSession, "close">> {
  const { flags, setup, ways, warnings, prompts, giveUp } = opening;
  const plan = await withSetup(opening.plan, setup);
  const { warn } = warnings;
  const isHostAsked = flags["permission-prompt-tool"] === "stdio" && flags["permission-prompts"] !== "none";
  const talking = isHostAsked ? ways.hostTools().filter(({ name }) => flags.tools?.includes(name) ?? true) : [];
  const hosted = [...setup.hostServers].map(([name, limits]) => [name, { type: "sdk", name, ...limits }] as const);
  const { hostTransport, elicit } = ways;
  const more = new Map<string, McpServerConfig>([...serversOf(setup), ...hosted]);
  const servers = beginServers(plan, { warn, hostTransport, elicit, more, open: true, giveUp });
  try {
    const options = {
      schedules: true,
      ...(await setupOptions(setup, plan.options)),
      tools: [...(plan.options.tools ?? []), ...talking],
    };
    const opened = await openSession(plan, { warn, servers, options, answers: isHostAsked ? "host" : undefined });
    const { session, mcp, answers } = opened;
    watchDebug(session, flags);
    const copy = await openCopy(plan.options, {
      sessionId: session.id,
      warn,
      ...(flags["session-mirror"] && { onWritten: ways.mirror }),
    });
    if (flags["session-mirror"] && !copy)
      throw new RuntimeError("usage", "--session-mirror: no copy of this session is kept that could be mirrored", {
        hint: "Leave out --no-session-persistence, and set OUTRIDER_CLAUDE_SESSIONS=on",
      });
    const format = await createOutputFormat({
      flags: { ...flags, ...(setup.forwardSubagentText && { "forward-subagent-text": true }) },
      session,
      options: plan.options,
      live: true,
      prompts: () => prompts.look(),
      keySource: plan.keySource,
      mcpServers: () => mcp?.states ?? [],
    });
    const close = (): Promise<void> => opened.close().finally(() => servers.close());
    return {
      session,
      format: warnings.among(format),
      mcp,
      permissions: answers,
      alsoTo: copy && ((event) => copy.add(event)),
      close,
    };
  } catch (error) {
    await servers.close();
    throw error;
  }
}

/** Servers that the host keeps off the command line. One that is not written as it should be is told of among the others. */
function serversOf({ servers }: LiveSetup): McpServerConfigs {
  if (!servers) return new Map();
  const configs = parseMcpServers({ mcpServers: servers }, { source: "initialize", env: process.env, keepsBroken: true });
  return new Map([...configs].map(([name, config]) => [name, { ...config, source: "dynamic" }]));
}

/** With the bundles that the host names. */
async function withSetup(plan: SessionPlan, { plugins, refused: [field] = [] }: LiveSetup): Promise<SessionPlan> {
  if (field !== undefined) {
    const problem = `initialize: ${field} is read from the command line only, and nothing is run without it`;
    throw new RuntimeError("usage", `${problem}; set ${field}Delivery: "argv"`);
  }
  if (!plugins) return plan;
  const { withMorePlugins } = await import("@outrider/runtime/admin");
  return await withMorePlugins(plan, plugins, surroundings());
}

async function setupOptions(setup: LiveSetup, options: SessionOptions): Promise<Partial<SessionOptions>> {
  const { hooks, outputSchema, systemPrompt, appendSystemPrompt, agents, title, toolAliases, skills } = setup;
  const { parseAgents } = await import("@outrider/runtime/admin");
  const own = agents && parseAgents(agents, "initialize");
  return {
    ...(hooks && { hooks }),
    ...(skills && options.skills && { skills: { ...options.skills, only: skills } }),
    ...(toolAliases && { toolAliases }),
    ...(outputSchema && { outputSchema }),
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(appendSystemPrompt !== undefined && { appendSystemPrompt }),
    ...(own && {
      agents: [...own.agents, ...(options.agents ?? [])],
      warnings: [...(options.warnings ?? []), ...own.warnings],
    }),
    ...(title !== undefined && options.resumeSessionId === undefined && { sessionName: title }), // one that is resumed keeps its own
  };
}

/** What a host is told about the session it is about to drive. */
export async function describeSession(plan: SessionPlan, setup: LiveSetup): Promise<JsonObject> {
  const { options, resolved, keySource } = await withSetup(plan, setup);
  const { builtinAgents, mergeAgents, parseAgents } = await import("@outrider/runtime/admin");
  const own = setup.agents ? parseAgents(setup.agents, "initialize").agents : [];
  const agents = mergeAgents([own, options.agents ?? [], options.builtinAgents ? builtinAgents : []]);
  return {
    commands: listCommands(options).map(({ name, description, argumentHint = "", isWritten }) => ({
      name,
      description,
      argumentHint,
      ...(!isWritten && { builtin: true }),
    })),
    agents: agents.map(({ name, description, model }) => ({ name, description, ...(model !== undefined && { model }) })),
    models: await listModels(options),
    account: { tokenSource: "none", apiKeySource: keySource, apiProvider: providerWord(options.provider.name) },
    output_style: options.outputStyle?.name ?? "default",
    available_output_styles: ["default", ...(await plan.outputStyles())],
    hooks_applied: true,
    ...(serversOf(setup).size > 0 && { mcp_servers_applied: true }),
    hook_on_failure_supported: true,
    current_permission_mode: options.permissionMode ?? "default",
    setting_sources: [...resolved.sources],
    session_state: "idle",
    fast_mode_state: "off",
    claude_code_version: OUTRIDER_VERSION,
    build_time: buildTime(),
    pid: process.pid,
  };
}

declare const OUTRIDER_VERSION: string;

/** Programs of the Agent SDK know these words; of the others there is the name. */
function providerWord(name: string): string {
  return name === "anthropic" ? "firstParty" : name;
}

/** When the files of the command were written; null where that cannot be seen. */
function buildTime(): string | null {
  const file = process.argv[1];
  return (file && statSync(file, { throwIfNoEntry: false })?.mtime.toISOString()) || null;
}

/** The one that is asked, the words for models, and what else the table knows of its provider. */
async function listModels({ model, provider, catalogOverride, modelVariables }: SessionOptions): Promise<JsonObject[]> {
  const { aliasesAt, listCatalog, recordAt } = await import("@outrider/runtime/admin");
  const current = model ?? provider.model;
  const listed = (await listCatalog(provider.name, catalogOverride)).models.map(({ id }) => id).filter((id) => id !== current);
  const rowOf = (value: string, id: string): JsonObject => ({
    value,
    resolvedModel: id,
    displayName: value,
    description: `${id} of ${provider.name}`,
    ...abilitiesOf(recordAt(provider.name, { model: id })),
  });
  return [
    { ...rowOf("default", current), displayName: `Default (${current})` },
    ...aliasesAt(provider.name, modelVariables).map(({ word, model: id }) => ({
      ...rowOf(word, id),
      ...(word === "opusplan" && { description: `Opus where a plan is made, else ${id}` }),
    })),
    ...[current, ...listed].map((id) => rowOf(id, id)),
  ];
}

/** In the words of the SDK; nothing of a model that nobody knows. */
function abilitiesOf(record: ModelRecord | undefined): JsonObject {
  if (!record) return {};
  const levels = record.efforts.filter((word) => ["low", "medium", "high", "xhigh", "max"].includes(word));
  return {
    supportsEffort: levels.length > 0,
    ...(levels.length > 0 && { supportedEffortLevels: levels }),
    supportsAdaptiveThinking: record.thinking.includes("adaptive"),
    supportsThinkingOff: record.thinking.includes("disabled") || record.efforts.includes("none"),
    supportsFastMode: false,
    supportsAutoMode: false,
  };
}
