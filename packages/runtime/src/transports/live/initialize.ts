import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import type { HookEntry, HooksByEvent } from "../../engine/open-hooks.ts";
import { isHookEvent } from "../../hooks/event-names.ts";
import type { NamedPlugin } from "../../hosting/session-request.ts";
import type { HookEventName } from "../../protocol/events.ts";
import { type McpServerLimits, parseServerLimits } from "../../tools/mcp/server-config.ts";
import type { ControlChannel } from "./control-channel.ts";
import { defined } from "../../util/defined.ts";

/** What a host asks for before the first prompt. */
export type LiveSetup = {
  readonly hooks?: HooksByEvent;
  /** Names of MCP servers that live in the host. */
  readonly hostServers: ReadonlyMap<string, McpServerLimits>;
  /** Other MCP servers, as `--mcp-config` takes them. */
  readonly servers?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  /** Agent definitions, as `--agents` takes them. */
  readonly agents?: JsonObject;
  readonly title?: string;
  /** Other names for tools. */
  readonly toolAliases?: Readonly<Record<string, string>>;
  /** The skills the model may use by itself; all when absent. */
  readonly skills?: readonly string[];
  /** Folders of bundles, as `--plugin-dir` takes them. */
  readonly plugins?: readonly NamedPlugin[];
  /** Also what subagents are told and say. */
  readonly forwardSubagentText?: boolean;
  /** Fields that ask for something there is not here. */
  readonly unsupported: readonly string[];
  /** Fields that restrict the session and are only read from the command line: without them there is no session. */
  readonly refused?: readonly string[];
};

const unsupportedFields = ["agentProgressSummaries", "excludeDynamicSections", "planModeInstructions", "promptSuggestions"];

/** Planning a session needs them, and that is done before the host introduces itself. */
const flagFields = ["settings", "managedSettings", "disallowedTools"];

/** The SDK sends an empty prompt when its program gives none; a request without any is not what servers in between expect. */
const plainPrompt = "You are an agent that works for another program, with the tools it gives you.";

/** Reads what is known in an `initialize` request; fields of other releases are left alone. */
export function readSetup(request: JsonObject, channel: ControlChannel): LiveSetup {
  const { systemPrompt, appendSystemPrompt, jsonSchema, agents, title, hooks, toolAliases } = request;
  const given = typeof systemPrompt === "string" ? systemPrompt : textsOf(systemPrompt)?.filter(isWords).join("\n\n");
  const prompt = given?.trim() === "" ? plainPrompt : given;
  const { mcpServers: servers } = request;
  const refused = flagFields.filter((field) => asksForSomething(request[field]));
  return {
    hostServers: toHostServers(request),
    ...(isJsonObject(servers) && Object.keys(servers).length > 0 && { servers }),
    ...(refused.length > 0 && { refused }),
    ...(isJsonObject(hooks) && Object.keys(hooks).length > 0 && { hooks: toHooks(hooks, channel) }),
    ...(isJsonObject(jsonSchema) && { outputSchema: jsonSchema }),
    ...defined({ systemPrompt: prompt }),
    ...(typeof appendSystemPrompt === "string" && { appendSystemPrompt }),
    ...(isJsonObject(agents) && { agents }),
    ...(typeof title === "string" && { title }),
    ...(isJsonObject(toolAliases) && { toolAliases: textsIn(toolAliases) }),
    ...(Array.isArray(request["skills"]) && { skills: textsOf(request["skills"]) ?? [] }),
    ...defined({ plugins: pluginsIn(request["plugins"]) }),
    ...(request["forwardSubagentText"] === true && { forwardSubagentText: true }),
    unsupported: [
      ...unsupportedFields.filter((field) => asksForSomething(request[field])),
      ...Object.keys(isJsonObject(hooks) ? hooks : {}).flatMap((event) => (isHookEvent(event) ? [] : [`hooks.${event}`])),
    ],
  };
}

/** `[{ type, path }]`, or paths. */
export function pluginsIn(value: JsonValue | undefined): NamedPlugin[] | undefined {
  const named = (Array.isArray(value) ? value : []).flatMap((item): NamedPlugin[] => {
    const path = isJsonObject(item) ? item["path"] : item;
    const isQuiet = isJsonObject(item) && item["skipMcpDiscovery"] === true;
    return typeof path === "string" && path !== "" ? [{ path, ...(isQuiet && { skipMcpDiscovery: true }) }] : [];
  });
  return named.length > 0 ? named : undefined;
}

function toHostServers({ sdkMcpServers: names, sdkMcpServerConfigs: configs }: JsonObject): LiveSetup["hostServers"] {
  const limits = isJsonObject(configs) ? configs : {};
  return new Map((textsOf(names) ?? []).map((name) => [name, parseServerLimits(limits[name])]));
}

/** A list of texts may hold a mark for what providers should cache: it is for programs, not for the model. */
function isWords(text: string): boolean {
  return text !== "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";
}

/** Each callback of the host becomes a hook that asks it. Moments that never come here are told of, and the others work. */
function toHooks(value: JsonObject, channel: ControlChannel): HooksByEvent {
  const entries = Object.entries(value).flatMap(([event, matchers]) => {
    const list = Array.isArray(matchers) ? matchers.filter(isJsonObject) : [];
    return isHookEvent(event) ? [[event, list.map((matcher) => toMatcher(matcher, event, channel))] as const] : [];
  });
  return Object.fromEntries(entries) as Partial<Record<HookEventName, ReturnType<typeof toMatcher>[]>>; // the names were looked at
}

type Matcher = { matcher?: string; hooks: HookEntry[] };

function toMatcher(value: JsonObject, event: HookEventName, channel: ControlChannel): Matcher {
  const { matcher, timeout, onFailure } = value;
  const hooks = (textsOf(value["hookCallbackIds"]) ?? []).map(
    (id): HookEntry => ({
      type: "callback",
      async callback(input, { signal, toolUseId }) {
        if (event === "SessionEnd" && channel.isClosed) return {}; // nobody is there any more
        const request = { subtype: "hook_callback", callback_id: id, input };
        return await channel.ask({ ...request, ...defined({ tool_use_id: toolUseId }) }, signal);
      },
      ...(typeof timeout === "number" && { timeout }),
      ...((onFailure === "block" || onFailure === "continue") && { onFailure }),
    }),
  );
  return { ...(typeof matcher === "string" && { matcher }), hooks };
}

function asksForSomething(value: JsonValue | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function textsIn(value: JsonObject): Record<string, string> {
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

function textsOf(value: JsonValue | undefined): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : undefined;
}
