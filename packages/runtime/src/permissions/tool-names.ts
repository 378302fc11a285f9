import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";
import { parseRule } from "./rules.ts";

/** Tools of this program, and names from Claude Code for which there is no tool here: programs written for it pass them. */
const knownNames: readonly string[] = (
  "Bash Shell BashTool Read Write Edit MultiEdit NotebookEdit NotebookRead Glob Grep LS WebFetch WebSearch Task Agent TodoWrite TodoRead " +
  "Skill SlashCommand KillShell KillBash BashOutput TaskOutput TaskStop TaskCreate TaskGet TaskUpdate TaskList AgentOutput AgentOutputTool " +
  "ExitPlanMode EnterPlanMode EnterWorktree ExitWorktree AskUserQuestion StructuredOutput ListMcpResources ListMcpResourcesTool " +
  "ReadMcpResource ReadMcpResourceTool ToolSearch LSP Monitor PowerShell SendMessage SendUserMessage SendUserFile TeamCreate TeamDelete " +
  "CronCreate CronDelete CronList RemoteTrigger PushNotification ScheduleWakeup Brief Config Sleep REPL Workflow"
).split(" ");

/** Why a name is the name of no tool, with the nearest one; undefined when it is one. Tools of MCP servers may come later: any may be named. */
export function unknownTool(name: string, more: readonly string[] = []): string | undefined {
  const names = [...knownNames, ...more];
  if (/^mcp__/.test(name) || names.includes(name)) return undefined;
  if (name.includes("*")) {
    const start = name.slice(0, name.indexOf("*"));
    if ("mcp__".startsWith(start) || names.some((known) => known.startsWith(start))) return undefined;
  }
  const guess = nearest(name, names);
  return `There is no tool ${JSON.stringify(name)}${guess === undefined ? "" : `; did you mean ${guess}?`}`;
}

/** Throws when a rule names no tool: a misspelled prohibition would prohibit nothing. `where` is the flag or the file. */
export function checkRuleTool(
  text: string,
  { where, code, more }: { where: string; code: "usage" | "config"; more?: readonly string[] },
): void {
  const { tool } = parseRule(text);
  const problem = unknownTool(tool, more);
  if (problem !== undefined)
    throw new RuntimeError(code, `${where}: ${problem}`, {
      hint: "Names of tools are written like Bash, Edit or mcp__server__tool, with upper and lower case as shown",
    });
}
