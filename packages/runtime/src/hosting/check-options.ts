import { unofferedTool } from "../permissions/tool-names.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { permissionModes } from "../protocol/permission.ts";
import { isRecord } from "../util/is-record.ts";
import { nearest } from "../util/nearest.ts";
import type { InteractiveSessionOptions } from "./interactive-session.ts";
import type { HostedRequest } from "./session-host.ts";

const choices: Readonly<Record<string, readonly string[]>> = {
  permissionMode: permissionModes,
  sandboxMode: ["auto", "require", "off"],
  effort: ["minimal", "low", "medium", "high"],
};
const listsOf: Readonly<Record<string, readonly string[] | undefined>> = {
  settingSources: ["user", "project", "local"],
  without: ["instructions", "agents", "hooks", "servers"],
  allowedTools: undefined,
  disallowedTools: undefined,
  builtinTools: undefined,
  passEnv: undefined,
};
const positive = ["maxTurns", "maxRequests", "maxOutputTokens", "maxBudgetUsd", "thinkingTokens", "outputLimit"];
const texts = ["cwd", "model", "settings", "systemPrompt", "appendSystemPrompt", "sessionId", "resumeSessionId", "mainAgent"];

/** The compiler holds these two to be complete. */
export const optionNames: Readonly<Record<keyof InteractiveSessionOptions, true>> = {
  ...{ cwd: true, provider: true, model: true, sessionId: true, resumeSessionId: true, resumeAt: true, sessionStore: true },
  ...{ permissionMode: true, allowedTools: true, disallowedTools: true, permissions: true, checkpoints: true },
  ...{ reversibleExecution: true, builtinTools: true, audit: true, systemPrompt: true, appendSystemPrompt: true },
  ...{ instructions: true, language: true, compaction: true, inbox: true, maxTurns: true, maxRequests: true, loops: true },
  ...{ maxOutputTokens: true, temperature: true, thinkingTokens: true, effort: true, providerOptions: true, fallback: true },
  ...{ maxBudgetUsd: true, allowUnknownPrice: true, catalogOverride: true, outputSchema: true, tools: true, offers: true },
  ...{ toolAliases: true, webSearch: true, agents: true, builtinAgents: true, commands: true, hooks: true, hookSettings: true },
  ...{ agent: true, answersPermissions: true, env: true, passEnv: true, untrusted: true, home: true, redactor: true },
  ...{ overflowDirectory: true, sandbox: true, sandboxClient: true, workspaceManifest: true, sandboxSnapshotId: true },
  ...{ outputLimit: true, transcriptPath: true, sessionName: true, warnings: true, now: true, newId: true },
  ...{ bare: true, without: true, settings: true, settingSources: true, trustProject: true, sandboxMode: true },
  ...{ mcpServers: true, requireServers: true, mainAgent: true, forkSession: true, outriderHome: true },
};
const requestNames: Readonly<Record<keyof HostedRequest, true>> = {
  ...{ cwd: true, provider: true, model: true, fallbackModel: true, recording: true, session: true, persistent: true },
  ...{ bare: true, without: true, settingSources: true, settings: true, trustProject: true, sandboxMode: true },
  ...{ hiddenVariables: true, mcpServers: true, requireServers: true, serverTimeouts: true, mainAgent: true },
  ...{ permissionTool: true, options: true, opening: true },
};

/** What a program without types may get wrong, told in its own words before anything else goes wrong because of it. */
export function checkSessionOptions(options: unknown): void {
  if (!isRecord(options)) throw wrong("InteractiveSession", "an object with cwd and provider", options);
  const { provider } = options;
  if (!isRecord(provider) || typeof provider["stream"] !== "function")
    throw wrong("provider", "a provider, such as createAnthropicProvider({ apiKey }) makes", provider);
  checkNames(options, optionNames);
  checkValues(options);
  const { mcpServers } = options;
  if (mcpServers !== undefined && !isRecord(mcpServers) && !isWrittenList(mcpServers))
    throw wrong("mcpServers", "an object of servers by name, as .mcp.json has them", mcpServers);
  if (options["forkSession"] === true && options["resumeSessionId"] === undefined)
    throw new RuntimeError("usage", "forkSession copies a session that exists: name it with resumeSessionId");
}

/** The same for a request to a host, whose options are a part of it. */
export function checkRequest(request: unknown): void {
  if (!isRecord(request)) throw wrong("A request", "an object", request);
  const misplaced = Object.keys(request).find((name) => !Object.hasOwn(requestNames, name) && Object.hasOwn(optionNames, name));
  if (misplaced !== undefined)
    throw new RuntimeError("usage", `${misplaced} is an option of the session: give it as options.${misplaced}`);
  checkNames(request, requestNames);
  checkValues(request);
  const { mcpServers } = request;
  if (mcpServers !== undefined && !isWrittenList(mcpServers))
    throw wrong("mcpServers", 'a list of { value: { mcpServers: { … } }, source: "where it is written" }', mcpServers);
  const { options } = request;
  if (options === undefined) return;
  if (!isRecord(options)) throw wrong("options", "an object", options);
  checkNames(options, { ...optionNames, ignoredSettings: true });
  checkValues(options);
}

function isWrittenList(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => isRecord(one) && "value" in one);
}

function checkNames(given: Record<string, unknown>, known: Readonly<Record<string, true>>): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name) && given[name] !== undefined);
  if (unknown === undefined) return;
  const near = nearest(unknown, Object.keys(known));
  throw new RuntimeError("usage", `There is no option ${unknown}${near === undefined ? "" : `; did you mean ${near}?`}`);
}

function checkValues(options: Record<string, unknown>): void {
  for (const name of texts)
    if (isGiven(options, name) && typeof options[name] !== "string") throw wrong(name, "a text", options[name]);
  for (const name of positive)
    if (isGiven(options, name) && !(typeof options[name] === "number" && options[name] > 0))
      throw wrong(name, "a number above 0", options[name]);
  for (const [name, words] of Object.entries(choices)) if (isGiven(options, name)) checkWord(name, options[name], words);
  for (const [name, words] of Object.entries(listsOf)) if (isGiven(options, name)) checkList(name, options[name], words);
  checkTools(options);
  checkSnapshot(options);
}

/** A misspelled name would take all tools away but those that are spelled right. */
function checkTools({ builtinTools = [], tools = [] }: Record<string, unknown>): void {
  if (!Array.isArray(tools) || !tools.every((tool) => isRecord(tool) && typeof tool["execute"] === "function"))
    throw wrong("tools", "a list of tools, as defineTool makes them", tools);
  const own = tools.map((tool) => tool["name"]);
  for (const name of Array.isArray(builtinTools) ? builtinTools : []) {
    const problem = own.includes(name) ? undefined : unofferedTool(String(name));
    if (problem !== undefined) throw new RuntimeError("usage", `builtinTools: ${problem}`);
  }
}

function checkSnapshot({ sandboxSnapshotId, sandboxClient }: Record<string, unknown>): void {
  if (sandboxSnapshotId === undefined) return;
  if (!isRecord(sandboxClient))
    throw new RuntimeError("usage", "sandboxSnapshotId is a state of another machine: it needs a sandboxClient");
  if (typeof sandboxClient["restore"] !== "function")
    throw new RuntimeError("usage", "sandboxSnapshotId cannot be brought back: the sandboxClient has no restore()");
}

function isGiven(options: Record<string, unknown>, name: string): boolean {
  return options[name] !== undefined;
}

function checkList(name: string, value: unknown, words: readonly string[] | undefined): void {
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string")) throw wrong(name, "a list of texts", value);
  if (words) for (const word of value) checkWord(name, word, words);
}

function checkWord(name: string, value: unknown, words: readonly string[]): void {
  if (typeof value === "string" && words.includes(value)) return;
  const near = typeof value === "string" ? nearest(value, [...words]) : undefined;
  throw wrong(name, `one of ${words.join(", ")}${near === undefined ? "" : `; did you mean ${near}?`}`, value);
}

function wrong(name: string, expected: string, value: unknown): RuntimeError {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : Array.isArray(value) ? "a list" : String(value);
  return new RuntimeError("usage", `${name} is ${expected}. It was ${shown}`);
}
