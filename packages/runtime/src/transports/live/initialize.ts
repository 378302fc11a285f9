import type { JsonObject, JsonValue } from "../../protocol/content.ts";
import type { HookEntry, HooksByEvent } from "../../engine/open-hooks.ts";
import type { HookEventName } from "../../protocol/events.ts";
import type { ControlChannel } from "./control-channel.ts";

/** What a host asks for before the first prompt. */
export type LiveSetup = {
  readonly hooks?: HooksByEvent;
  /** Names of MCP servers that live in the host. */
  readonly hostServers: readonly string[];
  readonly outputSchema?: JsonObject;
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  /** Agent definitions, as `--agents` takes them. */
  readonly agents?: JsonObject;
  readonly title?: string;
  /** Also what subagents are told and say. */
  readonly forwardSubagentText?: boolean;
  /** Fields that ask for something there is not here. */
  readonly unsupported: readonly string[];
};

const unsupportedFields = [
  "agentProgressSummaries",
  "excludeDynamicSections",
  "planModeInstructions",
  "plugins",
  "promptSuggestions",
  "skills",
  "toolAliases",
];

export type SetupHost = {
  readonly channel: ControlChannel;
  /** What hooks are told to be the transcript; the session's own when absent. */
  readonly transcriptPath?: string | undefined;
};

/** Reads what is known in an `initialize` request; fields of other releases are left alone. */
export function readSetup(request: JsonObject, host: SetupHost): LiveSetup {
  const { systemPrompt, appendSystemPrompt, jsonSchema, agents, title, hooks } = request;
  const prompt = typeof systemPrompt === "string" ? systemPrompt : textsOf(systemPrompt)?.join("\n\n");
  return {
    hostServers: textsOf(request["sdkMcpServers"]) ?? [],
    ...(isObject(hooks) && Object.keys(hooks).length > 0 && { hooks: toHooks(hooks, host) }),
    ...(isObject(jsonSchema) && { outputSchema: jsonSchema }),
    ...(prompt !== undefined && { systemPrompt: prompt }),
    ...(typeof appendSystemPrompt === "string" && { appendSystemPrompt }),
    ...(isObject(agents) && { agents }),
    ...(typeof title === "string" && { title }),
    ...(request["forwardSubagentText"] === true && { forwardSubagentText: true }),
    unsupported: unsupportedFields.filter((field) => asksForSomething(request[field])),
  };
}

/** Each callback of the host becomes a hook that asks it. */
function toHooks(value: JsonObject, host: SetupHost): HooksByEvent {
  const entries = Object.entries(value).map(([event, matchers]) => {
    const list = Array.isArray(matchers) ? matchers.filter(isObject) : [];
    return [event, list.map((matcher) => toMatcher(matcher, host))] as const;
  });
  return Object.fromEntries(entries) as Partial<Record<HookEventName, ReturnType<typeof toMatcher>[]>>; // names are checked with all others
}

function toMatcher(value: JsonObject, { channel, transcriptPath }: SetupHost): { matcher?: string; hooks: HookEntry[] } {
  const { matcher, timeout, onFailure } = value;
  const told = (input: JsonObject): JsonObject =>
    transcriptPath === undefined ? input : { ...input, transcript_path: transcriptPath };
  const hooks = (textsOf(value["hookCallbackIds"]) ?? []).map(
    (id): HookEntry => ({
      type: "callback",
      callback: (input, { signal, toolUseId }) =>
        channel.ask(
          {
            subtype: "hook_callback",
            callback_id: id,
            input: told(input),
            ...(toolUseId !== undefined && { tool_use_id: toolUseId }),
          },
          signal,
        ),
      ...(typeof timeout === "number" && { timeout }),
      ...(onFailure === "block" && { onFailure }),
    }),
  );
  return { ...(typeof matcher === "string" && { matcher }), hooks };
}

function asksForSomething(value: JsonValue | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function textsOf(value: JsonValue | undefined): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
