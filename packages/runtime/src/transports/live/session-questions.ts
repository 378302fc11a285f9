import { isJsonObject, type JsonObject } from "../../protocol/content.ts";
import type { Policy } from "../../permissions/policy.ts";
import type { Rule } from "../../permissions/rules.ts";
import type { SessionFacts } from "../../protocol/events.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import { isInside } from "../../util/is-inside.ts";
import type { Handler } from "./control-requests.ts";
import { pluginsIn } from "./initialize.ts";

/** What a host may ask to know; nothing is changed by the answers. */
export const questions: Readonly<Record<string, Handler>> = {
  list_models: async (_, { describe }) => ({ response: { models: (await describe())["models"] ?? [] } }),
  async get_binary_version(_, { describe }) {
    const { claude_code_version: version = "", build_time: buildTime = null } = await describe();
    return { response: { version, buildTime } };
  },
  get_usage: async (_, { spending }) => ({ response: await spending.usage() }),
  get_session_cost: async (_, { spending }) => ({ response: { text: await spending.text() } }),
  async list_permission_rules(_, { session }) {
    const { facts, policy } = await (await session()).controls();
    return { response: { state: toRulesState(policy, facts.cwd) } };
  },
  async get_hooks_listing(_, { session, settings }) {
    const { hooks, facts } = await (await session()).controls();
    const { effective } = await settings();
    const allDisabled = isJsonObject(effective) && effective["disableAllHooks"] === true;
    const { toHooksListing } = await import("./hooks-listing.ts");
    return { response: toHooksListing(hooks, { sourceOf: (source) => hookSourceOf(source, facts), allDisabled }) };
  },
  async file_suggestions({ query }, { session }) {
    if (typeof query !== "string") return { error: "query must be a string" };
    const controls = await (await session()).controls();
    const { files } = await controls.findFiles({ query, limit: mostSuggestions });
    return { response: { suggestions: files.map((path) => ({ path })), cwd: controls.facts.cwd } };
  },
  async get_task_output({ task_id: task }, { session }) {
    const open = await session();
    if (typeof task !== "string" || !open.getBackgroundTask(task)) return { error: `There is no task ${String(task)}` };
    return { response: await outputOf(open, task) };
  },
  async reload_skills(_, { session }) {
    const skills = await (await session()).reloadSkills();
    return {
      response: { skills: skills.map(({ name, description, argumentHint = "" }) => ({ name, description, argumentHint })) },
    };
  },
  async reload_output_styles(_, { describe }) {
    return { response: { available_output_styles: (await describe())["available_output_styles"] ?? [] } };
  },
  async reload_plugins({ add_plugins: added, refuse_if_busy: isUrgent }, { session: opened, mcp }) {
    const session = await opened();
    await session.reloadPlugins(pluginsIn(added), isUrgent === true);
    const { facts } = await session.controls();
    const commands = session.listCommands().map(({ name, description, argumentHint = "", isWritten }) => ({
      ...{ name, description, argumentHint },
      ...(!isWritten && { builtin: true }),
    }));
    const mcpServers = ((await mcp())?.states ?? []).map(({ name, status }): JsonObject => ({ name, status }));
    const { agents = [], plugins = [], pluginErrors = [] } = facts;
    return {
      response: {
        ...{ commands, mcpServers, plugins: plugins.map((plugin) => ({ ...plugin })), error_count: pluginErrors.length },
        agents: agents.map((name) => ({ name })),
      },
    };
  },
};

const mostSuggestions = 15;

/** The end of it, where it is long. */
const longestOutput = 256 * 1024;

async function outputOf(session: InteractiveSession, task: string): Promise<JsonObject> {
  let output = "";
  let total = 0;
  for (let offset = 0; ; ) {
    const { lines, nextCursor } = await session.readBackgroundTaskLog(task, { offset });
    const text = lines.map((line) => `${line.replace(/^\[\w+\] /, "")}\n`).join("");
    total += Buffer.byteLength(text);
    output = (output + text).slice(-longestOutput);
    if (lines.length === 0 || nextCursor?.offset === undefined || nextCursor.offset === offset) break;
    offset = nextCursor.offset;
  }
  return { output, total_bytes: total, truncated: Buffer.byteLength(output) < total };
}

function toRulesState({ allow, ask, deny, directories = [] }: Policy, cwd: string): JsonObject {
  const entries = (behavior: string, rules: readonly Rule[]): JsonObject[] =>
    rules.map(({ text, source: written = "" }) => {
      const source = sourceOf(written, cwd);
      return { behavior, rule: text, source, editability: lives[source] ?? "readonly" };
    });
  return {
    rules: [...entries("allow", allow), ...entries("ask", ask), ...entries("deny", deny)],
    workspaceDirectories: directories.map((path): JsonObject => ({ path, source: "session" })),
    originalCwd: cwd,
    managedOnly: false,
  };
}

/** Where a rule comes from, in the SDK's words. */
function sourceOf(source: string, cwd: string): string {
  if (source === "allowedTools" || source === "disallowedTools") return "cliArg";
  if (source.startsWith("--managed-settings")) return "policySettings";
  if (source.startsWith("--settings")) return "flagSettings";
  if (/settings\.local\.json/.test(source)) return "localSettings";
  if (!/settings\.json/.test(source)) return "session";
  return source.startsWith(`${cwd}/`) ? "projectSettings" : "userSettings";
}

function hookSourceOf(source: string, { cwd, plugins = [] }: SessionFacts): string {
  if (plugins.some(({ path }) => isInside(path, source))) return "pluginHook";
  const from = sourceOf(source, cwd);
  return from === "session" ? "sessionHook" : from;
}

const lives: Readonly<Record<string, string>> = {
  cliArg: "session",
  session: "session",
  userSettings: "persistent",
  projectSettings: "persistent",
  localSettings: "persistent",
};
