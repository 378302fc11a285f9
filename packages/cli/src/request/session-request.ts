import { resolve } from "node:path";
import { isPermissionMode, RuntimeError } from "@outrider/runtime";
import { existingFolder, parseSettingSources, type SessionRequest } from "@outrider/runtime/host";
import { commandFiles } from "../ci/platform.ts";
import { choiceProblem } from "../flags/choices.ts";
import type { FlagName, FlagValues } from "../flags/flags.ts";
import { isClaude } from "../flags/flavor.ts";
import { duration, numberBetween, positiveInteger, positiveNumber } from "../flags/numbers.ts";
import { readTextFile } from "./read-text-file.ts";

type Options = NonNullable<SessionRequest["options"]>;

/** The flags of the command line, in the library's words. What is written wrongly is found here; what does not exist, by the plan. */
export async function toSessionRequest(flags: FlagValues, warn: (line: string) => void): Promise<SessionRequest> {
  const namesTools = flags.allowedTools ?? flags.disallowedTools ?? flags.tools ?? flags.allow;
  const checked = namesTools ? (await import("./check-tools.ts")).checkTools(flags, !isClaude(flags)) : undefined;
  const { agents: agentsText, "mcp-config": servers, "json-schema": schema } = flags;
  const json = (agentsText ?? servers ?? schema) === undefined ? undefined : await import("./json-flags.ts");
  const { agents, warnings = [] } = agentsText === undefined ? {} : ((await json?.agentOptions(agentsText)) ?? {});
  return {
    cwd: flags.cwd === undefined ? undefined : existingFolder("--cwd", resolve(flags.cwd)),
    worktree: flags.worktree,
    provider: flags.provider,
    model: flags.model === "default" ? undefined : flags.model, // Claude Code's word for no choice
    fallbackModel: flags["fallback-model"],
    recording: recordingOf(flags),
    session: await sessionOf(flags, warn),
    persistent: !flags["no-session-persistence"],
    without: flags.bare
      ? ["instructions", "agents", "skills", "hooks", "servers", "plugins"]
      : flags["strict-mcp-config"]
        ? ["servers"]
        : undefined,
    settings: flags.settings,
    settingsName: "--settings",
    settingSources: flags["setting-sources"] === undefined ? undefined : parseSettingSources(flags["setting-sources"]),
    trustProject: flags["trust-project"],
    sandboxMode: flags.sandbox as SessionRequest["sandboxMode"], // its choices are the modes
    hiddenVariables: commandFiles,
    mcpServers: servers?.map((text) => ({ value: json?.readJson(text, "--mcp-config"), source: "--mcp-config" })),
    requireServers: flags["require-mcp"],
    serverTimeouts: {
      connectMs: flags["mcp-timeout"] === undefined ? undefined : duration("--mcp-timeout", flags["mcp-timeout"]),
    },
    plugins: pluginsOf(flags),
    mainAgent: flags.agent,
    permissionTool: permissionTool(flags),
    options: {
      ...limitOptions(flags),
      ...thinkingOptions(flags, warn),
      ...promptOptions(flags),
      agents,
      warnings: [...warnings, ...(checked?.warnings ?? [])],
      permissionMode: permissionMode(flags, warn),
      permissions: {
        allow: presetRules(flags),
        additionalDirectories: (flags["add-dir"] ?? []).flatMap((path) => folderIfThere(path, warn)),
        networkReads: flags["allow-network-reads"],
        mayBypass: Boolean(flags["dangerously-skip-permissions"] || flags["allow-dangerously-skip-permissions"]),
      },
      ...toolOptions(checked && flags.allowedTools ? { ...flags, allowedTools: [...checked.allowedTools] } : flags),
      passEnv: passedNames(flags),
      outputSchema: schema === undefined ? undefined : json?.readSchema(schema),
      sessionName: flags.name,
      setup: flags.init || flags["init-only"] ? "init" : flags.maintenance ? "maintenance" : undefined,
      slashCommands: flags["disable-slash-commands"] ? false : undefined,
    },
  };
}

/** Every tool: in `--disallowedTools` it leaves none, in `--allowedTools` it says nothing, as in Claude Code. */
export const everyTool = "*";

function toolOptions({ allowedTools, disallowedTools, tools }: FlagValues): Partial<Options> {
  const rules = (texts: readonly string[] | undefined): readonly string[] | undefined =>
    texts?.filter((text) => text !== everyTool);
  return {
    allowedTools: rules(allowedTools),
    disallowedTools: rules(disallowedTools),
    ...(disallowedTools?.includes(everyTool)
      ? { builtinTools: [], offers: () => false }
      : { builtinTools: tools?.includes("default") ? undefined : tools }),
  };
}

function pluginsOf(flags: FlagValues): SessionRequest["plugins"] {
  const named = (flags["plugin-dir"] ?? []).map((path) => ({ path }));
  const quiet = (flags["plugin-dir-no-mcp"] ?? []).map((path) => ({ path, skipMcpDiscovery: true }));
  const fetched = (flags["plugin-url"] ?? []).map((path) => ({ path, isAddress: true }));
  return [...named, ...quiet, ...fetched];
}

/** `--allow npm,make`, also given several times. */
export function presetsNamed({ allow = [] }: Pick<FlagValues, "allow">): string[] {
  return allow.flatMap((names) => names.split(",")).map((name) => name.trim());
}

function presetRules(flags: FlagValues): { readonly text: string; readonly source: string }[] {
  return presetsNamed(flags).map((name) => ({ text: `preset:${name}`, source: "--allow" }));
}

/** Flags that say which conversation it is. */
const sessionFlags = [
  "session-id",
  "resume",
  "continue",
  "fork-session",
  "resume-session-at",
  "resume-drops-turn",
  "name",
  "load-trajectory",
] as const satisfies readonly FlagName[];

async function sessionOf(flags: FlagValues, warn: (line: string) => void): Promise<SessionRequest["session"]> {
  if (sessionFlags.every((name) => flags[name] === undefined)) return undefined;
  return (await import("./choose-session.ts")).chooseSession(flags, warn);
}

function recordingOf(flags: FlagValues): SessionRequest["recording"] {
  const { replay: source, record: path } = flags;
  if (source !== undefined && path !== undefined) throw new RuntimeError("usage", "--replay and --record exclude each other");
  if (source !== undefined) return { type: "replay", source, lenient: flags["replay-lenient"] ?? false };
  return path === undefined ? undefined : { type: "record", path };
}

/** The tool that decides; a host is asked by the code that talks to it. */
function permissionTool(flags: FlagValues): string | undefined {
  const tool = flags["permission-prompts"] === "none" ? undefined : flags["permission-prompt-tool"];
  return tool === "stdio" ? undefined : tool;
}

function permissionMode(flags: FlagValues, warn: (line: string) => void): Options["permissionMode"] {
  const named = flags["permission-mode"] ?? (flags["dangerously-skip-permissions"] && "bypassPermissions");
  if (named === "auto") warn("--permission-mode auto counts as acceptEdits: no model judges calls here");
  if (named === "auto") return "acceptEdits";
  return named === undefined ? undefined : isPermissionMode(named) ? named : "default"; // `manual` is Claude Code's word for it
}

function limitOptions(flags: FlagValues): Options {
  const number = <T>(name: keyof FlagValues & string, parse: (flag: string, text: string) => T): T | undefined => {
    const text = flags[name];
    return typeof text === "string" ? parse(`--${name}`, text) : undefined;
  };
  return {
    maxTurns: number("max-turns", isClaude(flags) ? turns : positiveInteger),
    maxRequests: number("max-requests", positiveInteger),
    maxOutputTokens: number("max-tokens", positiveInteger),
    temperature: number("temperature", (flag, text) => numberBetween(flag, text, [0, 2])),
    maxBudgetUsd: number("max-budget-usd", positiveNumber),
    allowUnknownPrice: flags["allow-unknown-price"],
    loops: { noteAt: number("loop-note", repeats), stopAt: number("loop-stop", repeats) },
  };
}

/** 0 is Claude Code's word for no limit; the other flavors have none for it. */
function turns(flag: string, text: string): number | undefined {
  if (text === "0") return undefined;
  return positiveInteger(flag, text, "a whole number, 0 for no limit");
}

/** As Claude Code does, the work goes on without a folder that is not there: one less may be reached. */
function folderIfThere(path: string, warn: (line: string) => void): string[] {
  try {
    return [existingFolder("--add-dir", resolve(path))];
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    warn(`${error.message}: it is left out`);
    return [];
  }
}

function repeats(flag: string, text: string): number {
  if (text === "0") return 0;
  const value = positiveInteger(flag, text, "0 or a whole number of at least 2");
  if (value === 1) throw new RuntimeError("usage", `${flag} needs 0 or a number of at least 2: every call is made once`);
  return value;
}

function thinkingOptions(flags: FlagValues, warn: (line: string) => void): Pick<Options, "thinkingTokens" | "effort"> {
  return { thinkingTokens: thinkingTokens(flags), effort: effortOf(flags, warn) as Options["effort"] }; // its choices are the efforts
}

/** Newer programs know more words for it. */
function effortOf(flags: FlagValues, warn: (line: string) => void): string | undefined {
  const { effort } = flags;
  const problem = effort === undefined ? undefined : choiceProblem("effort", effort);
  if (!problem) return effort;
  if (!isClaude(flags)) throw problem;
  warn(`${problem.message}. The model's own effort is used`);
  return undefined;
}

/** 0 keeps a model from thinking. */
function thinkingTokens({ "max-thinking-tokens": tokens, thinking }: FlagValues): number | undefined {
  if (tokens !== undefined)
    return tokens === "0" ? 0 : positiveInteger("--max-thinking-tokens", tokens, "a whole number, 0 for none");
  if (thinking === undefined || thinking === "adaptive") return undefined;
  return thinking === "disabled" ? 0 : positiveInteger("--thinking", thinking);
}

function promptOptions(flags: FlagValues): Pick<Options, "systemPrompt" | "appendSystemPrompt"> {
  const read = (name: "system-prompt" | "append-system-prompt"): string | undefined => {
    const file = flags[`${name}-file`];
    if (file === undefined) return flags[name];
    if (flags[name] !== undefined) throw new RuntimeError("usage", `--${name} and --${name}-file exclude each other`);
    return readTextFile(file, `--${name}-file`);
  };
  return { systemPrompt: read("system-prompt"), appendSystemPrompt: read("append-system-prompt") };
}

function passedNames(flags: FlagValues): string[] {
  const names = (flags["pass-env"] ?? []).flatMap((words) => words.split(",")).map((name) => name.trim());
  const wrong = names.find((name) => !/^[A-Za-z_]\w*$/.test(name));
  if (wrong !== undefined)
    throw new RuntimeError("usage", `--pass-env takes names of variables, and ${JSON.stringify(wrong)} is none`);
  return names;
}
