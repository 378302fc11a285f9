import type { FactsOf, ToolFacts } from "../../protocol/tool-facts.ts";
import { filesOfPatch } from "../patch/patch-files.ts";
import type { Tool } from "../tool.ts";

const file = { file: "file_path" };

export const bashFacts: ToolFacts = {
  kind: "run",
  fields: { command: "command" },
  asides: ["description", "timeout"],
};

export const readFacts: ToolFacts = {
  kind: "look",
  fields: file,
  isRepeatable: true,
};

export const editFacts: ToolFacts = {
  kind: "edit",
  fields: file,
};

export const writeFacts: ToolFacts = {
  kind: "edit",
  fields: file,
};

export const notebookEditFacts: ToolFacts = {
  kind: "edit",
  fields: { file: "notebook_path" },
};

/** Which files a patch changes stands in its text. */
export const applyPatchFacts: ToolFacts = {
  kind: "edit",
  filesIn: ({ input }) => (typeof input === "string" ? [...new Set(filesOfPatch(input))] : []),
};

export const globFacts: ToolFacts = {
  kind: "look",
  fields: { folder: "path" },
  isRepeatable: true,
};

export const grepFacts: ToolFacts = {
  kind: "look",
  fields: { folder: "path" },
  isRepeatable: true,
};

export const webFetchFacts: ToolFacts = {
  kind: "reach",
  isRepeatable: true,
};

export const webSearchFacts: ToolFacts = {
  kind: "reach",
  isRepeatable: true,
};

export const todoWriteFacts: ToolFacts = {
  kind: "note",
  fields: { plan: "todos" },
};

export const taskFacts: ToolFacts = {
  kind: "note",
  startsAgents: true,
  asides: ["description"],
};

export const sendMessageFacts: ToolFacts = { kind: "note", ofConversation: true };
export const taskOutputFacts: ToolFacts = { kind: "note" };
export const taskInputFacts: ToolFacts = { kind: "run" };
export const taskStopFacts: ToolFacts = { kind: "note" };

/** It is about the conversation, which subagents do not outlive. */
export const scheduleFacts: ToolFacts = { kind: "note", ofConversation: true };
export const monitorFacts: ToolFacts = {
  kind: "run",
  fields: { command: "command" },
  asides: ["description"],
  ofConversation: true,
};

export const backgroundProcessFacts: ToolFacts = { kind: "run", fields: { command: "command" }, ofConversation: true };

/** Offered where the session stays open, or where somebody names them. */
export const wakingNames: readonly string[] = ["CronCreate", "CronList", "CronDelete", "ScheduleWakeup", "Monitor"];

/** What calls of tools for background tasks are also made by: names of other programs, which models know. */
export const taskToolAliases: Readonly<Record<string, string>> = {
  BashOutput: "TaskOutput",
  AgentOutput: "TaskOutput",
  AgentOutputTool: "TaskOutput",
  write_stdin: "TaskInput",
  KillShell: "TaskStop",
  KillBash: "TaskStop",
};

/** The tool is offered under the first; models that know it under the other one are understood. */
export const taskNames: readonly string[] = ["Task", "Agent"];

const known: ReadonlyMap<string, ToolFacts> = new Map([
  ["Bash", bashFacts],
  ["Read", readFacts],
  ["Edit", editFacts],
  ["Write", writeFacts],
  ["NotebookEdit", notebookEditFacts],
  ["apply_patch", applyPatchFacts],
  ["Glob", globFacts],
  ["Grep", grepFacts],
  ["WebFetch", webFetchFacts],
  ["WebSearch", webSearchFacts],
  ["TodoWrite", todoWriteFacts],
  ["SendMessage", sendMessageFacts],
  ["TaskOutput", taskOutputFacts],
  ["TaskInput", taskInputFacts],
  ["TaskStop", taskStopFacts],
  ["BackgroundProcess", backgroundProcessFacts],
  ...wakingNames.map((name) => [name, name === "Monitor" ? monitorFacts : scheduleFacts] as const),
  ...taskNames.map((name) => [name, taskFacts] as const),
]);

/** Of the built-in tools, for whoever reads of calls without having the tools: a journal, a client. */
export const builtinFacts: FactsOf = (name) => known.get(name);

/** Of the tools a session has; what was called earlier and is not offered any more is a built-in one or unknown. */
export function factsAmong(tools: ReadonlyMap<string, Pick<Tool, "facts">>): FactsOf {
  return (name) => tools.get(name)?.facts ?? builtinFacts(name);
}
