import type { JsonObject } from "../../protocol/content.ts";
import type { FactsOf, ToolFacts } from "../../protocol/tool-facts.ts";
import type { Tool } from "../tool.ts";

const text = (input: JsonObject, field: string): string => {
  const value = input[field];
  return typeof value === "string" ? value : "";
};
const after = (words: string, rest: string): string => rest && `${words} ${rest}`;

const file = { file: "file_path" };

export const bashFacts: ToolFacts = {
  kind: "run",
  fields: { command: "command" },
  shown: { as: "execute", title: (input) => text(input, "command"), isPlain: true },
};

export const readFacts: ToolFacts = {
  kind: "look",
  fields: file,
  isRepeatable: true,
  shown: {
    as: "read",
    title: (input, short) => after("Read", short(text(input, "file_path"))),
    isPlain: true,
    line: ({ offset }) => (typeof offset === "number" && Number.isInteger(offset) && offset > 0 ? offset : undefined),
  },
};

export const editFacts: ToolFacts = {
  kind: "edit",
  fields: file,
  shown: {
    as: "edit",
    title: (input, short) => after("Edit", short(text(input, "file_path"))),
    isPlain: true,
    change: ({ old_string: oldText, new_string: newText }) =>
      typeof oldText === "string" && typeof newText === "string" ? { oldText, newText } : undefined,
  },
};

export const writeFacts: ToolFacts = {
  kind: "edit",
  fields: file,
  shown: {
    as: "edit",
    title: (input, short) => after("Write", short(text(input, "file_path"))),
    isPlain: true,
    change: ({ content }) => (typeof content === "string" ? { oldText: null, newText: content } : undefined),
  },
};

export const globFacts: ToolFacts = {
  kind: "look",
  fields: { folder: "path" },
  isRepeatable: true,
  shown: { as: "search", title: (input) => after("Find", text(input, "pattern")), isPlain: true },
};

export const grepFacts: ToolFacts = {
  kind: "look",
  fields: { folder: "path" },
  isRepeatable: true,
  shown: { as: "search", title: (input) => after("Search for", text(input, "pattern")), isPlain: true },
};

export const webFetchFacts: ToolFacts = {
  kind: "reach",
  isRepeatable: true,
  shown: { as: "fetch", title: (input) => after("Fetch", text(input, "url")) },
};

export const webSearchFacts: ToolFacts = {
  kind: "reach",
  isRepeatable: true,
  shown: { as: "fetch", title: (input) => after("Search the web for", text(input, "query")) },
};

export const todoWriteFacts: ToolFacts = {
  kind: "note",
  fields: { plan: "todos" },
  shown: { as: "think", title: () => "Update the task list", isPlain: true },
};

export const taskFacts: ToolFacts = {
  kind: "note",
  startsAgents: true,
  shown: { as: "think", title: (input) => text(input, "description") },
};

/** The tool is offered under the first; models that know it under the other one are understood. */
export const taskNames: readonly string[] = ["Task", "Agent"];

const known: ReadonlyMap<string, ToolFacts> = new Map([
  ["Bash", bashFacts],
  ["Read", readFacts],
  ["Edit", editFacts],
  ["Write", writeFacts],
  ["Glob", globFacts],
  ["Grep", grepFacts],
  ["WebFetch", webFetchFacts],
  ["WebSearch", webSearchFacts],
  ["TodoWrite", todoWriteFacts],
  ...taskNames.map((name) => [name, taskFacts] as const),
]);

/** Of the built-in tools, for whoever reads of calls without having the tools: a journal, a client. */
export const builtinFacts: FactsOf = (name) => known.get(name);

/** Of the tools a session has; what was called earlier and is not offered any more is a built-in one or unknown. */
export function factsAmong(tools: ReadonlyMap<string, Pick<Tool, "facts">>): FactsOf {
  return (name) => tools.get(name)?.facts ?? builtinFacts(name);
}
