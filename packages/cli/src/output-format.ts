import { type InteractiveSession, RuntimeError, type SessionOptions } from "@outrider/runtime";
import {
  createBasicFormat,
  createCalibanFormat,
  createClaudeFormat,
  createIdSeries,
  type ModelCall,
  type OutputFormat,
  type OutputFormatName,
  outputFormatNames,
} from "@outrider/runtime/host";
import type { McpServerState } from "@outrider/runtime/mcp";
import type { FlagValues } from "./flags.ts";

export type FormatFacts = {
  readonly flags: FlagValues;
  readonly session: Pick<InteractiveSession, "id" | "listCommands">;
  readonly options: Pick<SessionOptions, "catalogOverride" | "sessionStore" | "resumeSessionId" | "overflowDirectory">;
  readonly keySource: string;
  /** Several prompts go into one output. */
  readonly live?: boolean;
  readonly mcpServers?: () => readonly McpServerState[];
};

/** The encoder that the flags ask for, with the trajectory beside it when one is to be written. */
export async function createOutputFormat(facts: FormatFacts): Promise<OutputFormat> {
  const { flags, options } = facts;
  const format = await chooseFormat(facts);
  if (flags.trajectory === undefined) return format;
  const { watchTrajectory } = await import("@outrider/runtime/atif");
  const { catalogOverride, sessionStore, resumeSessionId } = options;
  return await watchTrajectory(format, {
    path: flags.trajectory,
    ...(resumeSessionId !== undefined && { history: await sessionStore?.read(resumeSessionId) }),
    ...(flags["atif-version"] !== undefined && { version: flags["atif-version"] as "1.4" | "1.7" | "1.8" }), // its choices
    ...(catalogOverride && { catalogOverride }),
  });
}

async function chooseFormat({ flags, session, options, mcpServers, keySource, live }: FormatFacts): Promise<OutputFormat> {
  const { catalogOverride, overflowDirectory } = options;
  const common = {
    sessionId: session.id,
    newId: createIdSeries(),
    ...(overflowDirectory !== undefined && { spillFolder: overflowDirectory }),
    ...(catalogOverride && { catalogOverride }),
  };
  if (flags["output-format"] === "atif-jsonl") {
    const { createAtifJsonlFormat } = await import("@outrider/runtime/atif");
    return await createAtifJsonlFormat({ sessionId: session.id, ...(catalogOverride && { catalogOverride }) });
  }
  const name = formatName(flags["output-format"]);
  const includeHookEvents = flags["include-hook-events"] ?? false;
  const includePartialMessages = flags["include-partial-messages"] ?? false;
  switch (flags.flavor) {
    case "caliban":
      return createCalibanFormat(name, {
        ...common,
        includeHookEvents,
        includePartialMessages,
        replayUserMessages: flags["replay-user-messages"] ?? false,
        live: live ?? false,
        ...(mcpServers && { mcpServers }),
        bare: flags.bare ?? false,
      });
    case "robota":
      return createBasicFormat(name, common);
    default:
      return createClaudeFormat(name, {
        ...common,
        includeHookEvents,
        includePartialMessages,
        forwardSubagentText: flags["forward-subagent-text"] ?? false,
        ...(mcpServers && { mcpServers }),
        commands: () => session.listCommands().map(({ name }) => name),
        keySource,
        earlierCalls: name === "text" ? [] : await earlierCalls(options), // text tells no costs
      });
  }
}

/** For a result where there is no session. */
export function createEarlyFormat(
  name: OutputFormatName,
  { flavor, sessionId = "", live = false }: { flavor: string | undefined; sessionId?: string; live?: boolean },
): OutputFormat {
  const ids = { sessionId, newId: createIdSeries() };
  if (flavor === "caliban") return createCalibanFormat(name, { ...ids, live });
  return flavor === "robota" ? createBasicFormat(name, ids) : createClaudeFormat(name, ids);
}

/** What a resumed session has already cost. */
async function earlierCalls({ sessionStore, resumeSessionId }: FormatFacts["options"]): Promise<ModelCall[]> {
  if (!sessionStore || resumeSessionId === undefined) return [];
  const events = await sessionStore.read(resumeSessionId);
  return events.flatMap((event) => (event.type === "message.ended" || event.type === "side-call.ended" ? [event] : []));
}

export function formatName(text: string | undefined): OutputFormatName {
  return outputFormatNames.find((name) => name === text) ?? "text";
}

/** Live input has one shape of output: what a host reads is lines. */
export function checkLiveFormat(flags: FlagValues): void {
  if (flags["output-format"] === "stream-json") return;
  throw new RuntimeError("usage", "--input-format stream-json needs --output-format stream-json");
}
