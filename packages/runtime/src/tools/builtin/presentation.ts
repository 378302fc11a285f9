import type { JsonObject } from "../../protocol/content.ts";
import type { FactsOf, ToolPresentation } from "../../protocol/tool-facts.ts";
import { filesOfPatch } from "../patch/patch-files.ts";
import { builtinFacts, taskNames } from "./facts.ts";

const text = (input: JsonObject, field: string): string => {
  const value = input[field];
  return typeof value === "string" ? value : "";
};
const after = (words: string, rest: string): string => rest && `${words} ${rest}`;

const task: ToolPresentation = { as: "think", title: (input) => text(input, "description") };

/** How calls of the built-in tools are shown; apart from their other facts, since most runs show nothing to anybody. */
const shown: ReadonlyMap<string, ToolPresentation> = new Map<string, ToolPresentation>([
  ["Bash", { as: "execute", title: (input) => text(input, "command"), isPlain: true }],
  [
    "Read",
    {
      as: "read",
      title: (input, short) => after("Read", short(text(input, "file_path"))),
      isPlain: true,
      line: ({ offset }) => (typeof offset === "number" && Number.isInteger(offset) && offset > 0 ? offset : undefined),
    },
  ],
  [
    "Edit",
    {
      as: "edit",
      title: (input, short) => after("Edit", short(text(input, "file_path"))),
      isPlain: true,
      change: ({ old_string: oldText, new_string: newText, edits }) =>
        typeof oldText === "string" && typeof newText === "string" && edits === undefined ? { oldText, newText } : undefined,
    },
  ],
  [
    "Write",
    {
      as: "edit",
      title: (input, short) => after("Write", short(text(input, "file_path"))),
      isPlain: true,
      change: ({ content }) => (typeof content === "string" ? { oldText: null, newText: content } : undefined),
    },
  ],
  ["NotebookEdit", { as: "edit", title: (input, short) => after("Edit", short(text(input, "notebook_path"))), isPlain: true }],
  [
    "apply_patch",
    {
      as: "edit",
      title: (input, short) => after("Patch", filesOfPatch(text(input, "input")).map(short).join(", ")),
      isPlain: true,
    },
  ],
  ["Glob", { as: "search", title: (input) => after("Find", text(input, "pattern")), isPlain: true }],
  ["Grep", { as: "search", title: (input) => after("Search for", text(input, "pattern")), isPlain: true }],
  ["WebFetch", { as: "fetch", title: (input) => after("Fetch", text(input, "url")) }],
  ["WebSearch", { as: "fetch", title: (input) => after("Search the web for", text(input, "query")) }],
  ["TaskOutput", { as: "read", title: (input) => after("Output of", text(input, "task_id")), isPlain: true }],
  ["TaskInput", { as: "execute", title: (input) => after("Write to", text(input, "task_id")), isPlain: true }],
  ["TaskStop", { as: "execute", title: (input) => after("Stop", text(input, "task_id")), isPlain: true }],
  ["BackgroundProcess", { as: "execute", title: (input) => text(input, "command"), isPlain: true }],
  ["CronCreate", { as: "think", title: (input) => after("Plan", text(input, "cron")), isPlain: true }],
  ["CronList", { as: "think", title: () => "List what is planned", isPlain: true }],
  ["CronDelete", { as: "think", title: (input) => after("Take back", text(input, "id")), isPlain: true }],
  ["ScheduleWakeup", { as: "think", title: (input) => after("Wake up later", text(input, "reason")), isPlain: true }],
  ["Monitor", { as: "execute", title: (input) => after("Watch", text(input, "description")), isPlain: true }],
  ["TodoWrite", { as: "think", title: () => "Update the task list", isPlain: true }],
  ...taskNames.map((name) => [name, task] as const),
]);

/** With how their calls are shown. */
export const shownFacts: FactsOf = (name) => {
  const facts = builtinFacts(name);
  return facts && { ...facts, shown: shown.get(name) };
};
