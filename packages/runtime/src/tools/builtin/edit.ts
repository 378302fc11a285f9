import { forgives } from "../forgiven/later.ts";
import type { EditInput } from "../run-edit.ts";
import { defineTool, type Tool } from "../tool.ts";
import { editFacts } from "./facts.ts";

export const editTool: Tool = defineTool<EditInput>({
  name: "Edit",
  description:
    "Replaces text in a file that was read in this session. old_string must be in the file exactly, with its indentation and without Read's " +
    "line numbers, and only once; give more of the lines around it to make it unique, or set replace_all. Line endings are kept as the file " +
    "has them. Several changes of one file go into edits. An empty old_string creates a new file. The answer shows the changed lines: there is " +
    "no need to read the file again.",
  inputSchema: {
    type: "object",
    properties: {
      file_path: { type: "string", minLength: 1, description: "The file: absolute, or relative to the working directory." },
      old_string: { type: "string", description: "The text to replace." },
      new_string: { type: "string", description: "The text to put there; it must differ from old_string." },
      replace_all: { type: "boolean", description: "Replace every occurrence, for example to rename something. Default false." },
      edits: {
        type: "array",
        description:
          "More changes of the same file, made after this one and each on what the one before left. All are made or none.",
        items: {
          type: "object",
          properties: { old_string: { type: "string" }, new_string: { type: "string" }, replace_all: { type: "boolean" } },
          required: ["old_string", "new_string"],
          additionalProperties: false,
        },
      },
    },
    required: ["file_path", "old_string", "new_string"],
    additionalProperties: false,
  },
  concurrent: false,
  forgives: forgives("edit"),
  facts: editFacts,
  checksMasks: true,
  placed: async (input, here) => ({ ...input, file_path: await here(input.file_path) }),
  async access(input, workspace) {
    return { kind: "edit", resources: [await workspace.resolve(input.file_path)] };
  },
  // Loaded when it runs: many runs change nothing.
  execute: async (input, context) => (await import("../run-edit.ts")).runEdit(input, context),
});
