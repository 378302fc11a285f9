import type { AtifVersion } from "@outrider/runtime/atif";
import { type InteractiveSession, RuntimeError, type SessionOptions } from "@outrider/runtime";
import {
  type AnsweredPrompts,
  type ClaudeFormatOptions,
  createIdSeries,
  createTextFormat,
  type OutputFormat,
  type OutputFormatName,
  outputFormatNames,
} from "@outrider/runtime/host";
import type { createBasicFormat, createCalibanFormat } from "@outrider/runtime/admin";
import type { McpServerState } from "@outrider/runtime/mcp";
import type { FlagValues } from "../flags/flags.ts";
import { isClaude } from "../flags/flavor.ts";
import { isTerminal } from "../terminal/is-terminal.ts";

export type FormatFacts = {
  readonly flags: FlagValues;
  readonly session: Pick<InteractiveSession, "id" | "listCommands" | "listSkills" | "past">;
  readonly options: Pick<
    SessionOptions,
    "catalogOverride" | "sessionStore" | "resumeSessionId" | "overflowDirectory" | "permissions"
  >;
  readonly keySource: string;
  /** Several prompts go into one output. */
  readonly live?: boolean | undefined;
  readonly mcpServers?: (() => readonly McpServerState[]) | undefined;
  /** Which messages of a host are answered by what is written now. */
  readonly prompts?: (() => AnsweredPrompts) | undefined;
};

/** The encoder that the flags ask for, with the trajectory beside it when one is to be written. */
export async function createOutputFormat(facts: FormatFacts): Promise<OutputFormat> {
  const { flags, options } = facts;
  const format = isTerminal(1)
    ? (await import("../terminal/terminal-text.ts")).forTerminal(await chooseFormat(facts))
    : await chooseFormat(facts);
  if (flags.trajectory === undefined && flags.report === undefined) return format;
  const { catalogOverride, sessionStore, resumeSessionId } = options;
  const history = resumeSessionId === undefined ? undefined : await sessionStore?.read(resumeSessionId);
  const version = flags["atif-version"] as AtifVersion | undefined; // its choices
  const withTrajectory = await watched(flags.trajectory, format, async (path) =>
    (await import("@outrider/runtime/atif")).watchTrajectory(format, { path, history, version, catalogOverride }),
  );
  return await watched(flags.report, withTrajectory, async (path) =>
    (await import("../commands/report/watch-report.ts")).watchReport(withTrajectory, { path, history, catalogOverride }),
  );
}

/** The same where no file was asked for. */
async function watched(
  path: string | undefined,
  format: OutputFormat,
  watch: (path: string) => Promise<OutputFormat>,
): Promise<OutputFormat> {
  return path === undefined ? format : await watch(path);
}

async function chooseFormat(facts: FormatFacts): Promise<OutputFormat> {
  const { flags, session, options, mcpServers, keySource, live, prompts } = facts;
  const { catalogOverride, overflowDirectory } = options;
  const common = {
    sessionId: session.id,
    newId: createIdSeries(),
    spillFolder: overflowDirectory,
    catalogOverride,
  };
  if (flags["output-format"] === "atif-jsonl") {
    const { createAtifJsonlFormat } = await import("@outrider/runtime/atif");
    return await createAtifJsonlFormat({ sessionId: session.id, catalogOverride });
  }
  const name = formatName(flags["output-format"]);
  const includeHookEvents = flags["include-hook-events"] ?? false;
  const includePartialMessages = flags["include-partial-messages"] ?? false;
  switch (flags.flavor) {
    case "caliban":
      return await calibanFormat(name, {
        ...common,
        includeHookEvents,
        includePartialMessages,
        replayUserMessages: flags["replay-user-messages"] ?? false,
        live: live ?? false,
        mcpServers,
        bare: flags.bare ?? false,
      });
    case "robota":
      return await basicFormat(name, common);
    default:
      if (name === "text") return createTextFormat();
      return await claudeFormat(name, flags.verbose, {
        ...common,
        includeHookEvents,
        includePartialMessages,
        forwardSubagentText: flags["forward-subagent-text"] ?? process.env["CLAUDE_CODE_FORWARD_SUBAGENT_TEXT"] === "1",
        mcpServers,
        commands: () => session.listCommands().map(({ name }) => name),
        listCommands: () => session.listCommands(),
        skills: () => session.listSkills().map(({ name }) => name),
        keySource,
        betas: flags.betas?.split(",").flatMap((name) => name.trim() || []),
        additionalDirectories: options.permissions?.additionalDirectories ?? [],
        prompts,
        earlierCalls: () => session.past("message.ended", "side-call.ended"),
      });
  }
}

type ClaudeOptions = Omit<ClaudeFormatOptions, "partialMessages"> & { readonly includePartialMessages?: boolean };

async function claudeFormat(
  name: OutputFormatName,
  verbose: boolean | undefined,
  { includePartialMessages, ...options }: ClaudeOptions,
): Promise<OutputFormat> {
  const { createClaudeFormat, loadPartialMessages } = await import("@outrider/runtime/host");
  const partialMessages = includePartialMessages ? await loadPartialMessages() : undefined;
  const isArray = name === "json" && verbose;
  const claudeResults = process.env["OUTRIDER_CLAUDE_RESULTS"] === "1";
  const format = createClaudeFormat(isArray ? "stream-json" : name, { ...options, partialMessages, claudeResults });
  return isArray ? (await import("./frame-array.ts")).asArray(format) : format;
}

async function calibanFormat(...given: Parameters<typeof createCalibanFormat>): Promise<OutputFormat> {
  return (await import("@outrider/runtime/admin")).createCalibanFormat(...given);
}

async function basicFormat(...given: Parameters<typeof createBasicFormat>): Promise<OutputFormat> {
  return (await import("@outrider/runtime/admin")).createBasicFormat(...given);
}

export type EarlyFacts = {
  readonly flavor: string | undefined;
  readonly verbose?: boolean | undefined;
  readonly sessionId?: string | undefined;
  readonly live?: boolean | undefined;
  readonly prompts?: (() => AnsweredPrompts) | undefined;
};

/** For a result where there is no session. */
export async function createEarlyFormat(
  name: OutputFormatName,
  { flavor, verbose, sessionId = "", live = false, prompts }: EarlyFacts,
): Promise<OutputFormat> {
  const ids = { sessionId, newId: createIdSeries() };
  if (flavor === "caliban") return await calibanFormat(name, { ...ids, live });
  if (flavor === "robota") return await basicFormat(name, ids);
  return await claudeFormat(name, verbose, { ...ids, prompts });
}

export function formatName(text: string | undefined): OutputFormatName {
  return outputFormatNames.find((name) => name === text) ?? "text";
}

/** A flag that could not do what it says is refused, so that nobody waits for what will not come. */
export function checkOutputFlags(flags: FlagValues): void {
  const isStream = flags["output-format"] === "stream-json";
  const isLive = flags["input-format"] === "stream-json";
  const asked = (...names: readonly (keyof FlagValues)[]): string | undefined => names.find((name) => flags[name] !== undefined);
  const missing = (name: string | undefined, needs: string): void => {
    if (name !== undefined) throw new RuntimeError("usage", `--${name} needs ${needs}`);
  };
  if (!isStream) missing(asked("include-partial-messages", "forward-subagent-text"), "--output-format stream-json");
  if (!isStream && !isClaude(flags)) missing(asked("include-hook-events"), "--output-format stream-json");
  if (isLive)
    missing(asked("image"), "a prompt on the command line: with --input-format stream-json pictures are blocks of a message");
  if (!isLive) missing(asked("await-initialize", "session-mirror"), "--input-format stream-json");
  if (!isLive && flags.flavor !== "caliban") missing(asked("replay-user-messages"), "--input-format stream-json"); // caliban has a frame for it
  if (flags.trajectory === undefined) missing(asked("atif-version"), "--trajectory FILE");
  if (flags.replay === undefined) missing(asked("replay-lenient"), "--replay FILE");
}

/** What a host reads is lines; only caliban's scripts may also want nothing but the end of their run. */
export function liveFormatName(flags: FlagValues): OutputFormatName {
  const name = formatName(flags["output-format"]);
  if (name === "stream-json" || (flags.flavor === "caliban" && flags["output-format"] !== "atif-jsonl")) return name;
  throw new RuntimeError("usage", "--input-format stream-json needs --output-format stream-json");
}
