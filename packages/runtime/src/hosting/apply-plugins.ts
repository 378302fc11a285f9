import { findSkills } from "../commands/skills/find-skills.ts";
import type { FoundSkills, SkillFolder } from "../commands/skills/skill.ts";
import type { LoadedBundlePlugin } from "../plugins/plugin.ts";
import type { PluginFact } from "../protocol/events.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { type McpServerConfig, type McpServerConfigs, parseMcpServers } from "../tools/mcp/server-config.ts";
import { defined } from "../util/defined.ts";
import { userEnvironment } from "../workspace/environment.ts";
import { keyWishes } from "./child-environment.ts";
import type { FoundPlugins, PluginGround } from "./find-plugins.ts";
import { withStyle } from "./output-style.ts";
import { promptSettings } from "./project.ts";
import { skillLimits } from "./skill-settings.ts";
import type { SessionPlan } from "./plan-session.ts";

type Planned = Pick<SessionPlan, "request" | "options" | "servers">;

/** What a plan is with these bundles: each part goes where a part of settings or of a file would go, behind all of those. */
export async function applyPlugins(plan: Planned, found: FoundPlugins, ground: PluginGround): Promise<Omit<Planned, "request">> {
  const { request, options, servers } = plan;
  const { loaded, problems, warnings } = found;
  const skills = options.slashCommands === false ? undefined : await withSkills(options.skills, loaded, ground);
  const rules = permissionsOf(loaded);
  const appended = [options.appendSystemPrompt, ...loaded.map(({ manifest }) => manifest.systemPrompt)].filter(Boolean);
  const style = { around: ground.around, project: ground.project, settingSources: request.settingSources };
  const { outputStyle } = await promptSettings(request, ground.project, ground.resolved);
  const isStyled = outputStyle !== undefined || loaded.some(({ outputStyles }) => outputStyles.length > 0);
  const base = isStyled ? await withStyle(options, outputStyle, style, loaded) : options;
  return {
    options: {
      ...base,
      agents: [...(options.agents ?? []), ...loaded.flatMap(({ agents }) => agents)],
      ...(skills && { skills: skills.options }),
      hookSettings: withHooks(options.hookSettings, loaded, ground),
      ...(appended.length > 0 && { appendSystemPrompt: appended.join("\n\n") }),
      ...(options.env && { env: withPrograms(options.env, loaded) }),
      permissions: {
        ...options.permissions,
        allow: [...(options.permissions?.allow ?? []), ...rules.allow],
        ask: [...(options.permissions?.ask ?? []), ...rules.ask],
        deny: [...(options.permissions?.deny ?? []), ...rules.deny],
      },
      loadedPlugins: {
        ...options.loadedPlugins,
        loaded: [...(options.loadedPlugins?.loaded ?? []), ...loaded.map(toFact)],
        problems: [...(options.loadedPlugins?.problems ?? []), ...problems],
      },
      warnings: [...(base.warnings ?? []), ...warnings, ...(skills?.warnings ?? [])],
    },
    servers: { ...servers, configs: isStrict(request) ? servers.configs : withServers(servers.configs, loaded, ground) },
  };
}

/** Only the servers of the request count; where nothing written counts at all, a bundle that it names does. */
export function isStrict({ without = [] }: Pick<SessionPlan["request"], "without">): boolean {
  return without.includes("servers") && !without.includes("plugins");
}

export function toFact({ name, path, id, manifest: { version } }: LoadedBundlePlugin): PluginFact {
  return { name, path, source: id, ...defined({ version }) };
}

async function withSkills(
  before: SessionOptions["skills"],
  loaded: readonly LoadedBundlePlugin[],
  { resolved, around }: PluginGround,
): Promise<{ readonly options: NonNullable<SessionOptions["skills"]>; readonly warnings: readonly string[] }> {
  const folders: readonly SkillFolder[] = loaded.flatMap(({ skillFolders }) => skillFolders);
  const find = async (): Promise<FoundSkills> => await findSkills(folders);
  const { skills, warnings } = await find();
  const reload = async (): Promise<FoundSkills> => {
    const [own, more] = [await before?.reload?.(), await find()];
    const others = own?.skills ?? before?.found ?? [];
    return { skills: [...others, ...more.skills], warnings: [...(own?.warnings ?? []), ...more.warnings] };
  };
  const trusted = before?.trusted ?? (async (): Promise<boolean> => false);
  const limits = skillLimits(resolved.settings.skills, { ...around.env, ...resolved.settings.env });
  return { options: { ...limits, ...before, found: [...(before?.found ?? []), ...skills], trusted, reload }, warnings };
}

function withHooks(
  before: SessionOptions["hookSettings"],
  loaded: readonly LoadedBundlePlugin[],
  { around, resolved }: PluginGround,
): SessionOptions["hookSettings"] {
  const more = loaded.flatMap(({ hooks }) => hooks);
  if (more.length === 0) return before;
  const { disableAllHooks, allowedHttpHookUrls } = resolved.settings;
  const settings = before ?? { sources: [], disableAllHooks, ...defined({ allowedHttpHookUrls }), variables: around.env };
  return { ...settings, sources: [...settings.sources, ...more] };
}

/** Behind the user's own: a bundle brings programs, and takes nobody's place. */
function withPrograms(env: Readonly<Record<string, string>>, loaded: readonly LoadedBundlePlugin[]): Record<string, string> {
  const folders = loaded.flatMap(({ bin }) => (bin === undefined || bin.includes(":") ? [] : [bin]));
  return folders.length === 0 ? env : { ...env, PATH: [env["PATH"] ?? "/usr/bin:/bin", ...folders].join(":") };
}

/** Bundles may forbid. What one allows was shown to whoever installed it. */
function permissionsOf(
  loaded: readonly LoadedBundlePlugin[],
): Record<"allow" | "ask" | "deny", { text: string; source: string }[]> {
  const of = (effect: "allow" | "ask" | "deny"): { text: string; source: string }[] =>
    loaded.flatMap(({ id, manifest: { permissions } }) => {
      const texts = effect === "allow" && id.endsWith("@inline") ? [] : permissions[effect];
      return texts.map((text) => ({ text, source: `plugin ${id}` }));
    });
  return { allow: of("allow"), ask: of("ask"), deny: of("deny") };
}

/** `plugin:NAME:SERVER`. One that is reached like a server which is there already is left out, and none is given a key for models. */
export function withServers(
  before: McpServerConfigs,
  loaded: readonly LoadedBundlePlugin[],
  { around, project, resolved: { settings }, keySource }: PluginGround,
): McpServerConfigs {
  const configs = new Map(before);
  const theirs = userEnvironment(around.env, keyWishes({ settings, keySource, around, passEnv: settings.passEnv }));
  const isWithheld = (name: string): boolean => around.env[name] !== undefined && theirs[name] === undefined;
  const endpoints = new Set([...before.values()].map(endpointOf));
  for (const { name, servers, variables } of loaded) {
    const env = { ...theirs, CLAUDE_PROJECT_DIR: project.root, ...variables };
    for (const server of servers) {
      const given = { mcpServers: { [server.name]: server.value } };
      for (const config of parseMcpServers(given, { source: server.source, env, isWithheld, keepsBroken: true }).values()) {
        const endpoint = endpointOf(config);
        if (endpoint !== undefined && endpoints.has(endpoint)) continue;
        endpoints.add(endpoint);
        const own = config.type === "stdio" ? { ...config, env: { ...variables, ...config.env } } : config;
        if (config.type !== "sdk") configs.set(`plugin:${name}:${server.name}`, { ...own, source: "plugin" });
      }
    }
  }
  return configs;
}

function endpointOf(config: McpServerConfig): string | undefined {
  if (config.type === "stdio") return JSON.stringify([config.command, config.args]);
  return config.type === "http" || config.type === "sse" ? config.url : undefined;
}
