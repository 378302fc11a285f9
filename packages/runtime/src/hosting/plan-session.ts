import type { Tracer } from "../traces/tracer.ts";
import { withoutGitPlaces } from "../workspace/git-places.ts";
import { join, resolve } from "node:path";
import type { Checkpoints } from "../checkpoints/checkpoints.ts";
import { createFileStore } from "../journal/file-store.ts";
import type { SessionStore } from "../journal/store.ts";
import type { CatalogOverride } from "../model/catalog-override.ts";
import { findProvider } from "../model/providers/definitions.ts";
import { createAuditLog } from "../permissions/audit.ts";
import { parseRule } from "../permissions/rules.ts";
import type { SessionOptions } from "../session/session-options.ts";
import type { ResolvedSettings, Settings } from "../settings/settings.ts";
import type { TrustJudgement } from "../settings/trust.ts";
import { loadCatalogOverride } from "../settings/user-settings.ts";
import { defined } from "../util/defined.ts";
import { shortChecksum } from "../util/short-checksum.ts";
import { createRedactor } from "../util/redact.ts";
import { claudeVariables, compactionVariables, isOn } from "../settings/claude-variables.ts";
import { childEnvironment } from "./child-environment.ts";
import { type ChosenProvider, chooseProvider } from "./choose-provider.ts";
import { toChosenSession } from "./chosen-session.ts";
import { beginFolderFacts } from "./folder-facts.ts";
import { findAgents } from "./find-agents.ts";
import type { PluginGround } from "./find-plugins.ts";
import { skillsOfPlan } from "./find-skills.ts";
import { planServers, type ServerPlan } from "./plan-servers.ts";

import { permissionOptions, sandboxOptions } from "./permission-options.ts";
import { hostCommands } from "./host-commands.ts";
import { openProject, type Project, promptSettings, resolveProject } from "./project.ts";
import type { EarlierWorktree } from "./earlier-worktree.ts";
import type { HostedWorktree } from "./session-worktree.ts";
import type { LoadedPart, SessionChoice, SessionRequest } from "./session-request.ts";
import type { ProviderSource } from "./shared-providers.ts";
import type { Surroundings } from "./surroundings.ts";
import { ownFiles, toldFiles } from "./told-files.ts";
import { homeTrouble } from "./usable-home.ts";

/** A session that could be opened. What is wrong with the request has been found; nothing is stored, started or asked yet. */
export type SessionPlan = {
  readonly request: SessionRequest;
  readonly sessionId: string;
  readonly options: SessionOptions;
  readonly servers: ServerPlan;
  readonly project: Project;
  /** What holds of the settings files, and where each value comes from. */
  readonly resolved: ResolvedSettings;
  /** What is left of the recording that answers. */
  readonly replay: ChosenProvider["replay"];
  /** Where the provider's key comes from. */
  readonly keySource: string;
  /** The checkout of its own in which the session works. */
  readonly worktree: HostedWorktree | undefined;
  /** Follows the session and sends what it does to whom OpenTelemetry's variables name. */
  readonly tracer: Tracer | undefined;
  /** Options with the files a session is told of: by the rules that are among them, since a forbidden file is not told. */
  tellFiles(options: SessionOptions): Promise<SessionOptions>;
  /** Names of the styles that answers may be written in, beside ours. */
  outputStyles(): Promise<string[]>;
  /** Stores what the session begins with, such as a copy. To be called before the session is opened. */
  begin(): Promise<void>;
};

export type Planning = {
  readonly around: Surroundings;
  /** Hears at once what the events of the session do not tell. */
  readonly warn: (line: string) => void;
  /** Where providers come from; each session has its own when absent. */
  readonly providers?: ProviderSource | undefined;
};

/** The one way from a request to a session: settings, trust, rules, provider, agents, servers and instructions come together here. */
export async function planSession(wanted: SessionRequest, { around, warn, providers }: Planning): Promise<SessionPlan> {
  const trouble = wanted.persistent && !wanted.options?.sessionStore ? homeTrouble(around) : undefined;
  const asked = {
    ...wanted,
    ...((wanted.bare || isOn(around.env, "CLAUDE_CODE_SIMPLE")) && { without: everyPart }),
    ...(trouble !== undefined && { persistent: false }),
  };
  const own = asked.options ?? {};
  for (const rule of [...(own.allowedTools ?? []), ...(own.disallowedTools ?? [])]) parseRule(rule);
  // At once, so that it goes on beside all that is still to be done before the first request.
  const folderFacts = needsFacts(asked) ? beginFolderFacts(resolve(around.cwd, asked.cwd ?? ""), around) : undefined;
  const project = await openProject(asked, around);
  const resolved = await resolveProject(project);
  const { settings } = resolved;
  const { language, outputStyle } = await promptSettings(asked, project, resolved);
  await checkRules(settings);

  const catalogOverride = own.catalogOverride ?? (asked.bare ? undefined : await loadCatalogOverride(around.outriderHome));
  const {
    provider,
    keySource,
    replay,
    warnings: told = [],
    ...ways
  } = await chooseProvider(asked, {
    resolved,
    around,
    cwd: project.cwd,
    warn,
    providers,
  });
  const store = own.sessionStore ?? (asked.persistent ? userStore(around, settings) : undefined);
  const { session = { type: "new" } } = asked;
  const choice = typeof session === "function" ? await session(store, project.cwd) : session;
  const { id: sessionId, options: chosen, begin } = toChosenSession(choice, store);
  const agents = await findAgents(asked, { project, around });
  const named = asked.mainAgent === undefined && !asked.without?.includes("agents") ? settings.claude.agent : undefined;
  const request =
    named === undefined
      ? asked
      : { ...asked, mainAgent: (await import("./agent-of-settings.ts")).agentOfSettings(named, { agents, warn }) };
  const skills = await skillsOfPlan(request, { project, around, settings });
  const mainAgent = agents.options.agents?.find(({ name }) => name === request.mainAgent);
  const servers = await planServers(request, { resolved, project, around, mainAgent });
  const untrusted = resolved.ignored.length + agents.ignored.length + skills.ignored.length > 0;
  const unheard = [...agents.ignored, ...skills.ignored, ...servers.ignored];
  const judgement = await project.judged();
  const variables = childEnvironment(request, resolved, { keySource, around });
  const said = { ...around.env, ...settings.env };
  const earlier = request.worktree === undefined && choice.type !== "new" ? await earlierOf(choice, { store, project }) : {};
  const worktree = await worktreeOf(request.worktree ?? earlier.name, { around, project, sessionId });
  const cwd = worktree?.cwd ?? project.cwd;
  const { env } = around;
  const tracing =
    env["TRACEPARENT"] || Object.keys(env).some((name) => name.startsWith("OTEL_EXPORTER_OTLP_"))
      ? await (await import("./plan-traces.ts")).planTraces(request, { env, sessionId, catalogOverride, warn })
      : undefined;
  const place: Place = { around, project, settings, sessionId, cwd, said };

  const promptsFrom = own.promptsFrom ?? (env["OUTRIDER_OWNER_COMMANDS"] === "1" ? "owner" : "anybody");
  const planned: SessionOptions = {
    cwd,
    worktree,
    provider,
    modelVariables: modelVariables({ ...around.env, ...settings.claude.env }),
    home: around.userHome,
    ...ways,
    catalogOverride,
    language,
    webSearch:
      settings.webSearch.engine === undefined
        ? undefined
        : await (await import("./search-backend.ts")).searchBackend(settings, around.env),
    compaction: compactionOf(settings, said),
    maxRequests: settings.limits.maxRequests,
    hookSettings: request.without?.includes("hooks") ? undefined : hooksOf(settings, around),
    folderFacts,
    ...(request.bare || trouble !== undefined ? {} : keptFor(request, place)),
    ...claudeVariables(said),
    effort: claudeVariables(said).effort ?? settings.claude.effort,
    untrusted: untrusted || undefined,
    projectTrust: judgement && toTrustFact(judgement),
    ignoredSettings: untrusted || unheard.length > 0 ? await ignoredSettings(resolved, { unheard, project }) : undefined,
    ...defined(own),
    promptsFrom,
    ...(own.appendSystemPrompt?.startsWith("preset:") && {
      appendSystemPrompt: (await import("./prompt-presets.ts")).presetText(own.appendSystemPrompt, settings),
    }),
    ...(wantsTodoTasks(own, said) &&
      (await import("./todo-tasks.ts")).todoTaskOptions(own, {
        ...{ said, sessionId },
        outriderHome: request.bare || request.persistent === false ? undefined : around.outriderHome,
      })),
    loadedPlugins: { reload: reloader(request, { around, keySource }) },
    commandAdapters: { ...hostCommands(around, project, { language, outputStyle, promptsFrom }), ...own.commandAdapters },
    env: worktree ? withoutGitPlaces(variables.env ?? {}) : variables.env,
    passEnv: variables.passEnv,
    traceparent: own.traceparent ?? tracing?.traceparent,
    ...permissionOptions(own, resolved, { around, root: project.root, worktree: worktree?.path, bare: request.bare }),
    sandbox: own.sandbox ?? sandboxOptions(request, resolved, around),
    loops: { ...defined(settings.loops), ...defined(own.loops ?? {}) },
    ...agents.options,
    ...skills.options,
    ...defined(chosen),
    settingSources: resolved.sources,
    warnings: [
      ...(own.warnings ?? []),
      ...(trouble === undefined ? [] : [trouble]),
      ...(earlier.warning === undefined ? [] : [earlier.warning]),
      ...(worktree?.warnings ?? []),
      ...resolved.warnings,
      ...told,
      ...(await retirementsOf(provider, own.now, catalogOverride)),
      ...variables.warnings,
      ...agents.warnings,
      ...skills.warnings,
    ],
  };
  const goesOn = choice.type !== "new" && (await import("./last-changes.ts"));
  const options = goesOn ? await goesOn.withLastChanges(planned, { choice, store, request }) : planned;
  const beginAll = async (): Promise<void> => {
    await worktree?.begin();
    await begin();
    if (goesOn) await goesOn.carryChanges(choice, store);
  };
  const plan: SessionPlan = {
    ...{ request, sessionId, options, servers, project, resolved, replay, keySource, worktree, begin: beginAll },
    tracer: tracing?.tracer,
    outputStyles: async () => await (await import("./output-style.ts")).styleNames({ around, project }),
    tellFiles: async (options) => ({ ...options, ...(await toldFiles(request, place, options)), ...ownFiles(own) }),
  };
  const isExtended = request.plugins?.length || Object.values(settings.enabledPlugins).includes(true);
  const styled = outputStyle !== undefined && !isExtended && !request.bare;
  const whole = isExtended
    ? await (await import("./plan-plugins.ts")).withPlugins(plan, { around, project, resolved, keySource })
    : plan;
  const full = await plan.tellFiles(await guarded(whole, settings.claude.apiKeyHelper));
  if (!styled) return { ...whole, options: full };
  const { withStyle } = await import("./output-style.ts");
  return {
    ...whole,
    options: await withStyle(full, outputStyle, { around, project, settingSources: request.settingSources }),
  };
}

/** What the session itself runs outside of any box is not the model's to change. */
async function guarded({ options, servers: { configs } }: SessionPlan, helper: string | undefined): Promise<SessionOptions> {
  const runs =
    options.hooks ??
    options.hookSettings?.sources[0] ??
    options.agents?.find((agent) => agent.hooks ?? agent.mcpServers) ??
    helper;
  if (runs === undefined && configs.size === 0) return options;
  return (await import("./run-outside.ts")).protectScripts(options, configs, helper);
}

/** Bundles that are named later stay named. */
function reloader(
  request: SessionRequest,
  ground: Pick<PluginGround, "around" | "keySource">,
): NonNullable<SessionOptions["loadedPlugins"]>["reload"] {
  const named = [...(request.plugins ?? [])];
  return async (more = []) => {
    named.push(...more.filter(({ path }) => named.every((one) => one.path !== path)));
    return await (await import("./plan-plugins.ts")).reloadPlugins({ ...request, plugins: named }, ground);
  };
}

async function earlierOf(
  choice: SessionChoice,
  { store, project: { root, cwd } }: { readonly store: SessionStore | undefined; readonly project: Project },
): Promise<EarlierWorktree> {
  return await (await import("./earlier-worktree.ts")).earlierWorktree(choice, { store, root, cwd });
}

async function worktreeOf(
  wanted: SessionRequest["worktree"],
  { around, project, sessionId }: Pick<Place, "around" | "project" | "sessionId">,
): Promise<HostedWorktree | undefined> {
  if (wanted === undefined) return undefined;
  const { planSessionWorktree } = await import("./session-worktree.ts");
  return await planSessionWorktree({ wanted, cwd: project.cwd, env: around.env, sessionId });
}

/** Claude Code's variable, or somebody names them. */
function wantsTodoTasks({ builtinTools }: Pick<SessionOptions, "builtinTools">, said: Surroundings["env"]): boolean {
  const isNamed = builtinTools?.some((name) => /^Task(?:Create|Get|Update|List)$/.test(name)) ?? false;
  return isNamed || isOn(said, "CLAUDE_CODE_ENABLE_TODO_TOOLS");
}

/** A session that goes on has them on record, and one with a prompt of its own tells nobody. */
function needsFacts({ session, options }: SessionRequest): boolean {
  const isNew = session === undefined || typeof session === "function" || session.type === "new";
  return isNew && options?.systemPrompt === undefined && options?.sandboxClient === undefined;
}

const everyPart: readonly LoadedPart[] = ["instructions", "agents", "skills", "hooks", "servers", "plugins"];

type Place = {
  readonly around: Surroundings;
  readonly project: Project;
  readonly settings: Settings;
  readonly sessionId: string;
  /** Where the work is done. */
  readonly cwd: string;
  /** The variables around, and those of settings that count. */
  readonly said: Surroundings["env"];
};

async function retirementsOf(
  provider: { readonly name: string; readonly model: string },
  now: () => number = Date.now,
  override?: CatalogOverride,
): Promise<string[]> {
  if (override === undefined && provider.model === findProvider(provider.name)?.defaultModel) return []; // a test sees to it that it stays
  const { retirementWarning } = await import("../model/capabilities/retirement.ts");
  const warning = await retirementWarning(provider, { now: now(), override });
  return warning === undefined ? [] : [warning];
}

/** What the environment says about words for models. */
function modelVariables(env: Surroundings["env"]): SessionOptions["modelVariables"] {
  const said = Object.entries(env).filter(([name]) => /^ANTHROPIC_(?:DEFAULT_\w+|SMALL_FAST)_MODEL$/.test(name));
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}

/** A rule that names no tool is an error. */
async function checkRules({ permissions }: Settings): Promise<void> {
  const { allow, ask, deny } = permissions;
  if (allow.length + ask.length + deny.length > 0) (await import("./check-rules.ts")).checkRules(permissions);
}

/** Where journals are that nobody has another place for. */
export function userStore({ outriderHome }: Surroundings, settings: Settings | undefined): SessionStore {
  const sync = settings?.journal.sync;
  return createFileStore(join(outriderHome, "sessions"), sync === undefined ? {} : { sync });
}

/** What is kept in the user's folder beside the journal, unless nothing is to be kept. */
function keptFor(
  { persistent }: SessionRequest,
  place: Place,
): Pick<SessionOptions, "audit" | "checkpoints" | "overflowDirectory"> {
  const { around, cwd, settings, sessionId, said } = place;
  const overflowDirectory = join(around.outriderHome, "overflow", sessionId);
  if (persistent === false) return { overflowDirectory };
  const { keepDays } = settings.audit;
  const isKept = settings.checkpoints.enabled !== false && !isOn(said, "CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING");
  const log = createAuditLog({
    directory: join(around.outriderHome, "audit"),
    sessionId,
    cwd,
    ...defined({ keepDays }),
  });
  return {
    overflowDirectory,
    audit: (entry) => log.record(entry),
    checkpoints: isKept ? oncePerRoot((root) => openCheckpoints(place, root)) : undefined,
  };
}

/** A session works in one folder, its subagents may work in others. */
function oncePerRoot(open: (root?: string) => Promise<Checkpoints>): (root?: string) => Promise<Checkpoints> {
  const opened = new Map<string | undefined, Promise<Checkpoints>>();
  return (root) => {
    const known = opened.get(root) ?? open(root);
    opened.set(root, known);
    return known;
  };
}

/** Loaded with the first change of a file; old ones go at the same time. */
async function openCheckpoints({ around, cwd, settings, sessionId }: Place, root: string = cwd): Promise<Checkpoints> {
  const { createCheckpoints } = await import("../checkpoints/checkpoints.ts");
  const { expireWhenDue } = await import("../checkpoints/expire.ts");
  const directory = join(around.outriderHome, "checkpoints");
  const { keepDays } = settings.checkpoints;
  await expireWhenDue({ directory, ...defined({ keepDays }) });
  const redactor = createRedactor({ env: around.env });
  const id = root === cwd ? sessionId : `${sessionId.slice(0, 100)}-${shortChecksum(root)}`;
  return createCheckpoints({ directory, sessionId: id, root, redact: redactor.text });
}

function compactionOf({ compaction: { enabled, threshold } }: Settings, said: Surroundings["env"]): SessionOptions["compaction"] {
  const wanted = compactionVariables(said);
  if (enabled === false) return { threshold: false };
  if (wanted) return wanted;
  return threshold === undefined ? undefined : { threshold };
}

function hooksOf(
  { hooks, disableAllHooks, allowedHttpHookUrls }: Settings,
  { env }: Surroundings,
): SessionOptions["hookSettings"] {
  return { sources: hooks, disableAllHooks, ...defined({ allowedHttpHookUrls }), variables: env };
}

/** What an untrusted project wanted, and why it does not count. */
async function ignoredSettings(
  { ignored }: ResolvedSettings,
  { unheard, project }: { readonly unheard: readonly string[]; readonly project: Project },
): Promise<SessionOptions["ignoredSettings"]> {
  const { reason } = await project.trust();
  const { nothingToTrust } = await import("../settings/trust.ts");
  const items = ignored.map(({ path, key, line }) => `${key} (${path}${line === undefined ? "" : `:${line}`})`);
  return {
    items: [...items, ...unheard],
    // What was ignored may be empty: it does nothing, and is no reason for a sentence that there is nothing.
    hint: `${reason === nothingToTrust ? "Nobody has said to trust it" : reason}. Look at it with outrider trust --show, or trust it for once (trustProject, --trust-project)`,
  };
}

/** A project with nothing that runs or loosens anything is neither trusted nor not. */
function toTrustFact({ trusted, reason, executors }: TrustJudgement): SessionOptions["projectTrust"] {
  return trusted || executors.length > 0 ? { trusted, reason } : undefined;
}
