import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import { type PermissionMode, permissionModes, toPermissionMode } from "../protocol/permission.ts";
import { isRecord } from "../util/is-record.ts";
import { isJsonObject, type JsonObject } from "../protocol/content.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { toolRule } from "./agent-tool-rule.ts";
import { defined } from "../util/defined.ts";

export type ParsedAgents = { readonly agents: readonly AgentDefinition[]; readonly warnings: readonly string[] };

/**
 * Agents as `--agents` and the SDK's initialize have them: `{ name: { description, prompt, … } }`, or the JSON text of that.
 * Throws a `config` error for what is wrongly written; what is not known here is left out and told.
 */
export function parseAgents(value: unknown, source: string): ParsedAgents {
  const given = typeof value === "string" ? parseJson(value, source) : value;
  if (!isRecord(given)) throw wrong(source, 'is an object of agents by name: {"reviewer": {"description": …, "prompt": …}}');
  const agents: AgentDefinition[] = [];
  const warnings: string[] = [];
  for (const [name, fields] of Object.entries(given)) {
    const parsed = parseAgent(fields, { name, source, where: `${source}: the agent ${JSON.stringify(name)}` });
    if (parsed.agent) agents.push(parsed.agent);
    warnings.push(...parsed.warnings);
  }
  return { agents, warnings };
}

type Origin = { readonly name: string; readonly source: string; readonly where: string };

/** One agent; without `agent` when it asks for something it would be unsafe to leave out. Throws a `config` error that begins with `where`. */
export function parseAgent(
  value: unknown,
  { name, source, where }: Origin,
): { readonly agent?: AgentDefinition; readonly warnings: readonly string[] } {
  if (!isRecord(value)) throw wrong(where, "is an object with a description and a prompt");
  if (!isName(name)) throw wrong(where, "needs a name of 1 to 64 characters on one line");
  const isolation = value["isolation"];
  if (isolation !== undefined && isolation !== null && isolation !== "none" && isolation !== "worktree")
    return {
      warnings: [`${where} was left out: it wants isolation ${JSON.stringify(isolation)}, and there is only "worktree" here`],
    };
  const text = (field: string): string => requiredText(value[field], `${where}: ${field}`);
  const memory = memoryOf(value["memory"], `${where}: memory`);
  const tools = toolList(value["tools"], `${where}: tools`);
  const disallowedTools = toolList(value["disallowedTools"], `${where}: disallowedTools`);
  const model = optionalText(value["model"], `${where}: model`);
  const maxTurns = turnCount(value["maxTurns"], `${where}: maxTurns`);
  const permissionMode = modeOf(value["permissionMode"], `${where}: permissionMode`);
  const effort = effortOf(value["effort"], `${where}: effort`);
  const skills = nameList(value["skills"], `${where}: skills`);
  const hooks = hooksOf(value["hooks"], `${where}: hooks`);
  const mcpServers = serversOf(value["mcpServers"], `${where}: mcpServers`);
  const initialPrompt = optionalText(value["initialPrompt"], `${where}: initialPrompt`);
  const reminder = optionalText(value["criticalSystemReminder_EXPERIMENTAL"], `${where}: criticalSystemReminder_EXPERIMENTAL`);
  const agent: AgentDefinition = {
    name,
    description: text("description"),
    prompt: reminder === undefined ? text("prompt") : `${text("prompt")}\n\n${reminder}`,
    ...defined({
      tools,
      disallowedTools,
      model,
      maxTurns,
      permissionMode,
      effort,
      skills,
      hooks,
      mcpServers,
      memory,
      initialPrompt,
    }),
    ...(isolation === "worktree" && { isolation }),
    ...(value["background"] === true && { background: true }),
    ...(value["omitClaudeMd"] === true && { omitInstructions: true }),
    source,
  };
  const unknown = Object.keys(value).filter((field) => !known.has(field) && asksForSomething(value[field]));
  return { agent, warnings: unknown.map((field) => `${where}: ${field} means nothing here and was left out`) };
}

const known: ReadonlySet<string> = new Set([
  "name",
  "description",
  "prompt",
  "tools",
  "disallowedTools",
  "model",
  "maxTurns",
  "permissionMode",
  "isolation",
  "effort",
  "skills",
  "hooks",
  "mcpServers",
  "memory",
  "initialPrompt",
  "background",
  "omitClaudeMd",
  "criticalSystemReminder_EXPERIMENTAL",
  "color", // how Claude Code's own screen paints it
]);

/** What is switched off is not missed. */
function asksForSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false;
  return !Array.isArray(value) || value.length > 0;
}

/** Whether each hook is well written is found out when the agent begins: nothing of it runs before. */
function hooksOf(value: unknown, where: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) throw wrong(where, "must be an object with a list for each event");
  return Object.keys(value).length > 0 ? value : undefined;
}

/** A list of names and of servers by name, or those by name alone. A server that is only named is the session's own, which it has anyway. */
function serversOf(value: unknown, where: string): JsonObject | undefined {
  const list: unknown[] = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  const own = list.filter((item) => typeof item !== "string");
  if (!own.every(isJsonObject)) throw wrong(where, "must be a list of names of servers, or of servers by name");
  const servers: JsonObject = Object.assign({}, ...own);
  return Object.keys(servers).length > 0 ? servers : undefined;
}

function memoryOf(value: unknown, where: string): AgentDefinition["memory"] {
  if (value === undefined || value === null || value === false) return undefined;
  if (value === "user" || value === "project" || value === "local") return value;
  throw wrong(where, "must be one of user, project, local");
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw wrong(source, `is JSON, and this is none: ${error instanceof Error ? error.message : error}`);
  }
}

function isName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return name.trim() !== "" && name.length <= 64 && !/[\u0000-\u001f\u007f]/.test(name);
}

function requiredText(value: unknown, where: string): string {
  if (typeof value === "string" && value.trim() !== "") return value;
  throw wrong(where, "must be a text that says something");
}

function optionalText(value: unknown, where: string): string | undefined {
  return value === undefined || value === null ? undefined : requiredText(value, where);
}

/** A list, or names with commas between them. `*` stands for all tools. */
function toolList(value: unknown, where: string): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const list: unknown = typeof value === "string" ? splitNames(value) : value;
  if (!Array.isArray(list) || !list.every((item): item is string => typeof item === "string" && item.trim() !== ""))
    throw wrong(where, "must be a list of tool names");
  return list.map((item) => {
    try {
      return toolRule(item.trim(), where).text;
    } catch (error) {
      throw wrong(where, `must be a list of tool names: ${toRuntimeError(error).message}`);
    }
  });
}

/** A list, or names with commas between them; none when it is empty. */
function nameList(value: unknown, where: string): string[] | undefined {
  const list: unknown = typeof value === "string" ? splitNames(value) : (value ?? []);
  if (!Array.isArray(list) || !list.every((item): item is string => typeof item === "string"))
    throw wrong(where, "must be a list of names");
  return list.length > 0 ? list.map((name) => name.trim().replace(/^\//, "")) : undefined;
}

/** A comma within parentheses belongs to a pattern. */
function splitNames(text: string): string[] {
  return text
    .split(/,(?![^(]*\))/)
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

function turnCount(value: unknown, where: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  throw wrong(where, "must be a whole number above 0");
}

function effortOf(value: unknown, where: string): AgentDefinition["effort"] {
  if (value === undefined || value === null) return undefined;
  if (value === "low" || value === "medium" || value === "high") return value;
  if (value === "xhigh" || value === "max") return "high"; // the most that providers have in common
  throw wrong(where, "must be one of low, medium, high, xhigh, max");
}

function modeOf(value: unknown, where: string): PermissionMode | undefined {
  if (value === undefined || value === null) return undefined;
  const mode = toPermissionMode(value);
  if (mode) return mode;
  throw wrong(where, `must be one of ${permissionModes.join(", ")}`);
}

function wrong(where: string, what: string): RuntimeError {
  return new RuntimeError("config", `${where} ${what}`);
}
