import { findRecord } from "../model/capabilities/record.ts";
import { parseRule, type Rule } from "../permissions/rules.ts";
import type { ToolDefinition } from "../protocol/content.ts";
import type { AnswerSchema } from "../engine/structured-output.ts";
import type { AgentDefinition } from "../tasks/agent-definition.ts";
import { applyPatchTool } from "../tools/builtin/apply-patch.ts";
import type { BackgroundProcessDeps } from "../tools/builtin/background-process.ts";
import { createBuiltinTools } from "../tools/builtin/builtin-tools.ts";
import { bashFacts, taskInputFacts, taskNames, taskToolAliases, wakingNames } from "../tools/builtin/facts.ts";
import { builtinsOffered } from "../tools/builtin/offered-builtins.ts";
import { sendMessageTool } from "../tools/builtin/send-message.ts";
import { createTaskTools, taskToolAs } from "../tools/builtin/task-tools.ts";
import { createTaskTool } from "../tools/builtin/task.ts";
import type { Tool } from "../tools/tool.ts";
import type { SessionOptions } from "./session-options.ts";

const processName = "BackgroundProcess";

/** The tools of a session by every name they are understood under: what is built in, and what the options bring. */
export async function offeredTools(
  options: SessionOptions,
  agents: readonly AgentDefinition[],
  processes: BackgroundProcessDeps,
): Promise<Map<string, Tool>> {
  const { builtinTools: wanted, offers = () => true } = options;
  const taken = takenAway(options);
  const isWanted = builtinsOffered({
    knowsPatches: await knowsPatches(options),
    wanted,
    taken,
    searches: options.webSearch !== undefined,
  });
  const made = createBuiltinTools({ bash: options.bash, ...(options.webSearch && { webSearch: options.webSearch }) });
  const builtin = [...made, applyPatchTool].filter(({ name }) => isWanted(name));
  const brought = (options.tools ?? []).filter(({ name }) => offers(name));
  const tools = new Map([...builtin, ...brought].map((tool) => [tool.name, tool]));
  for (const name of taken) tools.delete(name);
  const isTaken = (name: string): boolean => taken.some((other) => (taskToolAliases[other] ?? other) === name);
  const startsAgents = agents.length > 0 && taskNames.some(isWanted) && !taken.some((name) => taskNames.includes(name));
  addTaskTools(tools, { startsAgents, isOffered: (name) => isWanted(name) && !isTaken(name) });
  const wakes = wakingNames.filter((name) => (options.schedules || wanted?.includes(name)) && isWanted(name) && !isTaken(name));
  if (wakes.length > 0) for (const tool of await wakingTools(tools)) if (wakes.includes(tool.name)) tools.set(tool.name, tool);
  if (options.backgroundTaskRunners?.some(({ kind }) => kind === "process") && !isTaken(processName) && isWanted(processName)) {
    const { createBackgroundProcessTool } = await import("../tools/builtin/background-process.ts");
    tools.set(processName, createBackgroundProcessTool(processes));
  }
  if (!startsAgents) return tools;
  const task = createTaskTool(agents, options);
  for (const name of taskNames) tools.set(name, task);
  return tools;
}

/** Also holds for what servers bring later. */
export function offersOf(options: SessionOptions): (toolName: string) => boolean {
  const taken = takenAway(options);
  return (name) => !taken.includes(name) && (options.offers?.(name) ?? true);
}

/** A bare name among `disallowedTools` takes the tool away from the model. */
export function takenAway({ disallowedTools }: SessionOptions): readonly string[] {
  const rules = toRules(disallowedTools, "disallowedTools");
  return rules.filter(({ pattern }) => pattern === undefined).map(({ tool }) => tool);
}

/** What the model is offered: the tools, and the one it answers with where its provider cannot be given a schema. */
export function definitionsOf(tools: ReadonlyMap<string, Tool>, answerSchema: AnswerSchema | undefined): ToolDefinition[] {
  const answer = answerSchema?.begin();
  const offered = [...new Set(tools.values()), ...(answer?.isOffered ? [answer.tool] : [])].filter(
    ({ facts }) => !facts?.isOtherName,
  );
  return offered.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
}

/** A rule that should forbid something and names no tool would forbid nothing: better no session. */
export async function checkProhibitions(options: SessionOptions, offered: readonly string[]): Promise<void> {
  const { disallowedTools = [], permissions: { deny = [], ask = [] } = {}, tools = [], toolAliases = {} } = options;
  if (disallowedTools.length + deny.length + ask.length === 0) return;
  const { checkRuleTool } = await import("../permissions/tool-names.ts");
  const more = [...offered, ...tools.map(({ name }) => name), ...Object.keys(toolAliases)];
  for (const text of disallowedTools) checkRuleTool(text, { where: "disallowedTools", code: "usage", more });
  for (const { text, source } of [...deny, ...ask]) checkRuleTool(text, { where: source, code: "config", more });
}

/** By what the user says of the model, else by its record; only those of one maker are patched with. */
async function knowsPatches({ model, provider, catalogOverride }: SessionOptions): Promise<boolean> {
  const id = model ?? provider.model;
  const { capabilitiesFrom } = catalogOverride ? await import("../model/capabilities/overrides.ts") : {};
  const said = capabilitiesFrom?.(catalogOverride, provider.name)?.(id)?.editTool;
  if (said !== undefined || !/gpt|codex|(?:^|\/)o\d/i.test(id)) return said === "patch";
  const { gptModels } = await import("../model/capabilities/gpt.ts");
  return findRecord(gptModels, id)?.editTool === "patch";
}

/** What wakes the model later; programs are watched where it may run some. */
async function wakingTools(tools: ReadonlyMap<string, Tool>): Promise<Tool[]> {
  const [{ createScheduleTools }, { monitorTool }] = await Promise.all([
    import("../tools/builtin/schedule-tools.ts"),
    import("../tools/builtin/monitor.ts"),
  ]);
  const runs = [...tools.values()].some(({ facts }) => facts === bashFacts);
  return [...createScheduleTools(), ...(runs ? [monitorTool] : [])];
}

/** What is about background tasks is offered where a command or an agent can become one, and understood under the names other programs have for it. */
function addTaskTools(
  tools: Map<string, Tool>,
  { startsAgents, isOffered }: { readonly startsAgents: boolean; readonly isOffered: (name: string) => boolean },
): void {
  const runsCommands = [...tools.values()].some(({ facts }) => facts === bashFacts);
  if (!runsCommands && !startsAgents) return;
  const offered = createTaskTools().filter(({ facts }) => runsCommands || facts !== taskInputFacts);
  for (const tool of [...offered, ...(startsAgents ? [sendMessageTool] : [])]) {
    const names = [tool.name, ...Object.keys(taskToolAliases).filter((name) => taskToolAliases[name] === tool.name)];
    if (isOffered(tool.name)) for (const name of names) tools.set(name, taskToolAs(name, tool));
  }
}

function toRules(texts: readonly string[] | undefined, source: string): Rule[] {
  return (texts ?? []).map((text) => parseRule(text, source));
}
