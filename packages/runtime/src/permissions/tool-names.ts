import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";
import { presetIn, unknownPreset } from "./preset-names.ts";
import { parseRule, toolAliases } from "./rules.ts";

/** Tools of this program, and names from Claude Code for which there is no tool here: programs written for it pass them. */
const knownNames: readonly string[] = (
  "Bash Shell BashTool BackgroundProcess Read Write Edit apply_patch MultiEdit NotebookEdit NotebookRead Glob Grep LS WebFetch WebSearch Task Agent TodoWrite TodoRead " +
  "Skill SlashCommand KillShell KillBash BashOutput TaskOutput TaskInput TaskStop TaskCreate TaskGet TaskUpdate TaskList AgentOutput AgentOutputTool " +
  "ExitPlanMode EnterPlanMode EnterWorktree ExitWorktree AskUserQuestion StructuredOutput ListMcpResources ListMcpResourcesTool " +
  "ReadMcpResource ReadMcpResourceTool ToolSearch LSP Monitor PowerShell SendMessage SendUserMessage SendUserFile TeamCreate TeamDelete " +
  "CronCreate CronDelete CronList RemoteTrigger PushNotification ScheduleWakeup Brief Config Sleep REPL Workflow ListAgents ReportFindings"
).split(" ");

/** Those that can be offered, in the order of the documentation; the last three where somebody is there to talk to. */
const ownNames: readonly string[] =
  "Bash BackgroundProcess TaskOutput TaskInput TaskStop Monitor CronCreate CronList CronDelete ScheduleWakeup Read Write Edit apply_patch NotebookEdit Glob Grep WebFetch WebSearch TodoWrite TaskCreate TaskGet TaskUpdate TaskList Task Agent AskUserQuestion EnterPlanMode ExitPlanMode".split(
    " ",
  );

/** Offered where there is something for them: a skill, an agent to talk to. */
const dependentNames: readonly string[] = ["Skill", "SendMessage"];

/** Why a name is the name of no tool, with the nearest one; undefined when it is one. Tools of MCP servers and of commands may come later: any may be named. */
export function unknownTool(name: string, more: readonly string[] = []): string | undefined {
  const names = [...knownNames, ...more];
  const preset = presetIn(name);
  if (preset !== undefined) return unknownPreset(preset);
  if (/^(?:mcp__|outrider_command_)/.test(name) || names.includes(name)) return undefined;
  if (name.includes("*")) {
    const start = name.slice(0, name.indexOf("*"));
    if ("mcp__".startsWith(start) || names.some((known) => known.startsWith(start))) return undefined;
  }
  return missing(name, names);
}

/** Why nothing is offered under a name, which may be one that only rules and other programs know. */
export function unofferedTool(name: string): string | undefined {
  const names = [...ownNames, ...dependentNames];
  return /^mcp__/.test(name) || names.includes(name) ? undefined : missing(name, names);
}

/** A name that rules know a tool by is meant as that tool. */
function missing(name: string, names: readonly string[]): string {
  const guess = toolAliases.get(name) ?? nearest(name, names);
  const help = guess === undefined ? `; there are ${ownNames.join(", ")}` : `; did you mean ${guess}?`;
  return `There is no tool ${JSON.stringify(name)}${help}`;
}

const toolNames = "Names of tools are written like Bash, Edit or mcp__server__tool, with upper and lower case as shown";

/** Throws when a rule names no tool: a misspelled prohibition would prohibit nothing. `where` is the flag or the file. */
export function checkRuleTool(
  text: string,
  { where, code, more }: { where: string; code: "usage" | "config"; more?: readonly string[] },
): void {
  const { tool } = parseRule(text);
  const problem = unknownTool(tool, more);
  if (problem !== undefined)
    throw new RuntimeError(code, `${where}: ${problem}`, {
      hint: presetIn(tool) === undefined ? toolNames : "outrider permissions presets shows what each stands for",
    });
}
