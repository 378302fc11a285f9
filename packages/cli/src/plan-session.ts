import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createFileStore, type Effort, type JsonObject, parseRule, RuntimeError, type SessionOptions } from "@outrider/runtime";
import {
  createAuditLog,
  createRedactor,
  findProjectRoot,
  loadCatalogOverride,
  loadInstructions,
  loadLayers,
  modelKeys,
  noSettings,
  outriderHome,
  parseSettingSources,
  type ResolvedSettings,
  resolveLayers,
  type SettingsLayer,
} from "@outrider/runtime/host";
import type { Checkpoints, TrustJudgement } from "@outrider/runtime/admin";
import type { McpServerConfigs } from "@outrider/runtime/mcp";
import { findAgents } from "./agent-options.ts";
import { withdrawKeys } from "./withdraw-keys.ts";
import { childEnvironment } from "./child-environment.ts";
import { chooseProvider } from "./choose-provider.ts";
import { chooseSession } from "./choose-session.ts";
import type { FlagValues } from "./flags.ts";
import { planMcpServers } from "./mcp-servers.ts";
import { isModelWord, resolveModelWord } from "./model-words.ts";
import { readTextFile } from "./read-text-file.ts";
import { numberBetween, positiveInteger, positiveNumber } from "./numbers.ts";
import { permissionOptions, sandboxOptions } from "./permission-options.ts";
import { requestLimits } from "./request-limits.ts";

export type Planned = {
  readonly options: SessionOptions;
  readonly replay: { readonly remaining: number } | undefined;
  readonly mcpServers: McpServerConfigs | undefined;
  readonly resolved: ResolvedSettings;
  /** Where the provider's key comes from. */
  readonly keySource: string;
  /** Stores what the session begins with; nothing is stored before. To be called before the session is opened. */
  begin(): Promise<void>;
};

/** Flags and settings to everything a session needs. What is wrong with them is found here, before anything is stored or asked. */
export async function planSession(flags: FlagValues, warn: (line: string) => void): Promise<Planned> {
  const visible = withdrawKeys(modelKeys); // before anything is started, and before anybody keeps the environment
  const { env } = process;
  const home = outriderHome(env);
  const userHome = env["HOME"] || homedir();
  const cwd = workingDirectory(flags.cwd);
  const root = findProjectRoot(cwd, userHome);
  for (const rule of [...(flags.allowedTools ?? []), ...(flags.disallowedTools ?? [])]) parseRule(rule);
  const limits = { ...limitOptions(flags), ...effortOptions(flags, warn) };

  const layers = await loadSettingsLayers(flags, { home, userHome, root });
  const trust = once(async () => {
    const { judgeTrust } = await import("@outrider/runtime/admin");
    return await judgeTrust({ outriderHome: home, root, layers, env, ...(flags["trust-project"] && { flag: true }) });
  });
  const isOfProject = layers.some(({ scope }) => scope === "project" || scope === "local");
  const trusted = isOfProject && (await trust()).trusted;
  const resolved = layers.length === 0 ? noSettings : await resolveLayers(layers, { trusted });
  const { settings } = resolved;
  const unknownTools = namesTools(flags, settings) ? (await import("./check-tools.ts")).checkTools(flags, resolved) : [];

  const catalogOverride = await loadCatalogOverride(home);
  const { provider, replay, keySource, providerOptions, fallback } = await chooseProvider(flags, { resolved, home, cwd, warn });
  const sessionStore = flags["no-session-persistence"]
    ? undefined
    : createFileStore(join(home, "sessions"), settings.journal.sync === undefined ? {} : { sync: settings.journal.sync });
  const session = await chooseSession(flags, { store: sessionStore, cwd, warn });
  const scopes = instructionScopes(flags);
  const instructions = flags.bare ? undefined : loadInstructions({ cwd, root, userHome, outriderHome: home, ...scopes });
  const { warnings: exposed, ...children } = childEnvironment(flags, resolved, keySource);
  const agents = await findAgents(flags, { root, home, userHome, trust });
  const isUntrusted = resolved.ignored.length + agents.ignored.length > 0;
  const options: SessionOptions = {
    cwd,
    provider,
    ...children,
    overflowDirectory: join(home, "overflow", session.id),
    ...limits,
    ...requestLimits(flags, resolved),
    ...permissionOptions(flags, resolved, { home, userHome, root }),
    ...(sessionStore && { sessionStore, audit: auditLog({ home, cwd, sessionId: session.id, ...settings.audit }) }),
    ...(sessionStore &&
      settings.checkpoints.enabled !== false && {
        checkpoints: once(() => openCheckpoints({ home, cwd, sessionId: session.id, resolved })),
      }),
    ...(isModelWord(provider.model) && { model: await resolveModelWord(provider.model, { provider, catalogOverride, warn }) }),
    ...(providerOptions && { providerOptions }),
    ...(catalogOverride && { catalogOverride }),
    ...(fallback && { fallback }),
    ...(instructions && instructions.files.length + instructions.warnings.length > 0 && { instructions }),
    ...(settings.language !== undefined && { language: settings.language }),
    ...compactionOptions(resolved),
    ...(!flags.bare && settings.hooks.length > 0 && { hookSettings: hookSettings(resolved) }),
    sandbox: sandboxOptions(flags, resolved, home),
    ...(isUntrusted && { untrusted: true }),
    ...promptOptions(flags),
    ...(flags.tools && !flags.tools.includes("default") && { builtinTools: flags.tools }),
    ...agents.options,
    ...(flags["json-schema"] !== undefined && { outputSchema: readSchema(flags["json-schema"]) }),
    ...(flags.name !== undefined && { sessionName: flags.name }),
    ...session.options,
    settingSources: resolved.sources,
    warnings: [...resolved.warnings, ...unknownTools, ...agents.warnings, ...(visible ? [visible] : exposed)],
    ...(isUntrusted && {
      ignoredSettings: await ignoredSettings(resolved, agents.ignored, trust),
    }),
  };
  if (options.ignoredSettings) warn(describeIgnored(options.ignoredSettings));
  const mcpServers = await planMcpServers({ flags, resolved, root, trust });
  return { options, replay, keySource, mcpServers, resolved, begin: session.begin };
}

function namesTools(flags: FlagValues, { permissions }: ResolvedSettings["settings"]): boolean {
  const rules = [...permissions.allow, ...permissions.ask, ...permissions.deny];
  return Boolean(flags.allowedTools ?? flags.disallowedTools ?? flags.tools) || rules.length > 0;
}

type Places = { readonly home: string; readonly userHome: string; readonly root: string };

async function loadSettingsLayers(flags: FlagValues, { home, userHome, root }: Places): Promise<SettingsLayer[]> {
  const sources = flags["setting-sources"];
  const inline = flags.settings;
  return await loadLayers({
    outriderHome: home,
    userHome,
    root,
    ...(sources !== undefined && { sources: parseSettingSources(sources) }),
    ...(inline !== undefined && { inline }),
  });
}

function auditLog(facts: {
  home: string;
  cwd: string;
  sessionId: string;
  keepDays: number | undefined;
}): NonNullable<SessionOptions["audit"]> {
  const { home, cwd, sessionId, keepDays } = facts;
  const log = createAuditLog({ directory: join(home, "audit"), sessionId, cwd, ...(keepDays !== undefined && { keepDays }) });
  return (entry) => log.record(entry);
}

/** Loaded with the first change of a file; old ones go at the same time. */
async function openCheckpoints(facts: {
  home: string;
  cwd: string;
  sessionId: string;
  resolved: ResolvedSettings;
}): Promise<Checkpoints> {
  const { createCheckpoints, expireWhenDue } = await import("@outrider/runtime/admin");
  const directory = join(facts.home, "checkpoints");
  const { keepDays } = facts.resolved.settings.checkpoints;
  await expireWhenDue({ directory, ...(keepDays !== undefined && { keepDays }) });
  const redactor = createRedactor({ env: process.env });
  return createCheckpoints({ directory, sessionId: facts.sessionId, root: facts.cwd, redact: redactor.text });
}

function compactionOptions({ settings: { compaction } }: ResolvedSettings): Pick<SessionOptions, "compaction"> {
  if (compaction.enabled === false) return { compaction: { threshold: false } };
  return compaction.threshold === undefined ? {} : { compaction: { threshold: compaction.threshold } };
}

function hookSettings({ settings }: ResolvedSettings): NonNullable<SessionOptions["hookSettings"]> {
  const { hooks, disableAllHooks, allowedHttpHookUrls } = settings;
  return {
    sources: hooks,
    disableAllHooks,
    ...(allowedHttpHookUrls !== undefined && { allowedHttpHookUrls }),
    variables: process.env,
  };
}

function thinkingOptions(flags: FlagValues): Pick<SessionOptions, "thinkingTokens"> {
  const tokens = flags["max-thinking-tokens"];
  if (tokens === "0") return {};
  if (tokens !== undefined) return { thinkingTokens: positiveInteger("--max-thinking-tokens", tokens) };
  if (flags.thinking === undefined || flags.thinking === "adaptive" || flags.thinking === "disabled") return {};
  return { thinkingTokens: positiveInteger("--thinking", flags.thinking) };
}

async function ignoredSettings(
  { ignored }: ResolvedSettings,
  agents: readonly string[],
  trust: () => Promise<TrustJudgement>,
): Promise<NonNullable<SessionOptions["ignoredSettings"]>> {
  const { reason } = await trust();
  const items = ignored.map(({ path, key, line }) => `${key} (${path}${line === undefined ? "" : `:${line}`})`);
  return {
    items: [...items, ...agents],
    hint: `${reason}. Look at it with outrider trust --show, or run once with --trust-project`,
  };
}

function limitOptions(flags: FlagValues): Partial<SessionOptions> {
  return {
    ...(flags["max-turns"] !== undefined && { maxTurns: positiveInteger("--max-turns", flags["max-turns"]) }),
    ...(flags["max-tokens"] !== undefined && { maxOutputTokens: positiveInteger("--max-tokens", flags["max-tokens"]) }),
    ...thinkingOptions(flags),
    ...(flags.temperature !== undefined && { temperature: numberBetween("--temperature", flags.temperature, [0, 2]) }),
    ...(flags["max-budget-usd"] !== undefined && { maxBudgetUsd: positiveNumber("--max-budget-usd", flags["max-budget-usd"]) }),
    ...(flags["allow-unknown-price"] && { allowUnknownPrice: true }),
  };
}

function effortOptions({ effort }: FlagValues, warn: (line: string) => void): Pick<SessionOptions, "effort"> {
  if (effort === undefined) return {};
  if (effort !== "xhigh" && effort !== "max") return { effort: effort as Effort }; // its choices are the efforts
  warn(`--effort ${effort} counts as high, which is the most that providers have in common`);
  return { effort: "high" };
}

/** `--setting-sources` says whose files count, and an instruction file is one. */
function instructionScopes({ "setting-sources": text }: FlagValues): { scopes?: ("user" | "project")[] } {
  if (text === undefined) return {};
  const sources = parseSettingSources(text);
  const isOfProject = sources.includes("project") || sources.includes("local");
  return { scopes: [...(sources.includes("user") ? ["user" as const] : []), ...(isOfProject ? ["project" as const] : [])] };
}

function promptOptions(flags: FlagValues): Pick<SessionOptions, "systemPrompt" | "appendSystemPrompt"> {
  const read = (name: "system-prompt" | "append-system-prompt"): string | undefined => {
    const file = flags[`${name}-file`];
    if (file === undefined) return flags[name];
    if (flags[name] !== undefined) throw new RuntimeError("usage", `--${name} and --${name}-file exclude each other`);
    return readTextFile(file, `--${name}-file`);
  };
  const systemPrompt = read("system-prompt");
  const appendSystemPrompt = read("append-system-prompt");
  return { ...(systemPrompt !== undefined && { systemPrompt }), ...(appendSystemPrompt !== undefined && { appendSystemPrompt }) };
}

function readSchema(text: string): JsonObject {
  const source = text.trim().startsWith("{") ? text : readTextFile(text, "--json-schema");
  try {
    return JSON.parse(source) as JsonObject; // what it holds is checked by the session before anything is asked
  } catch (error) {
    throw new RuntimeError("usage", `--json-schema is no JSON: ${error instanceof Error ? error.message : error}`);
  }
}

function workingDirectory(flag: string | undefined): string {
  const path = resolve(flag ?? ".");
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) throw new RuntimeError("usage", `--cwd: ${path} is ${stat ? "no directory" : "not there"}`);
  return realpathSync(path);
}

function describeIgnored({ items, hint }: NonNullable<SessionOptions["ignoredSettings"]>): string {
  const shown = items.slice(0, 5).join(", ");
  const more = items.length > 5 ? ` and ${items.length - 5} more` : "";
  return `ignored from a project that is not trusted: ${shown}${more}. ${hint}`;
}

function once<T>(run: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= run();
    return result;
  };
}
