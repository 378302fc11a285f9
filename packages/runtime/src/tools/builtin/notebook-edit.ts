import { forgives } from "../forgiven/later.ts";
import type { NotebookEditInput } from "../run-notebook-edit.ts";
import { defineTool, type Tool } from "../tool.ts";
import { notebookEditFacts } from "./facts.ts";

export const notebookEditTool: Tool = defineTool<NotebookEditInput>({
  name: "NotebookEdit",
  description:
    "Changes one cell of a Jupyter notebook (.ipynb) that was read in this session: replaces its source, inserts a new cell behind it, or " +
    "deletes it. Read shows the cells with their ids. Outputs of a code cell that changes are dropped.",
  inputSchema: {
    type: "object",
    properties: {
      notebook_path: {
        type: "string",
        minLength: 1,
        description: "The notebook: absolute, or relative to the working directory.",
      },
      cell_id: {
        type: "string",
        description:
          "The cell, by the id that Read shows. With insert: the cell behind which the new one goes; without it, at the start.",
      },
      new_source: { type: "string", description: "The new source of the cell; empty for delete." },
      cell_type: {
        type: "string",
        enum: ["code", "markdown"],
        description: "When absent: the same as before, and code for insert.",
      },
      edit_mode: { type: "string", enum: ["replace", "insert", "delete"], description: "Default replace." },
    },
    required: ["notebook_path", "new_source"],
    additionalProperties: false,
  },
  concurrent: false,
  forgives: forgives("notebook"),
  facts: notebookEditFacts,
  checksMasks: true,
  placed: async (input, here) => ({ ...input, notebook_path: await here(input.notebook_path) }),
  async access(input, workspace) {
    return { kind: "edit", resources: [await workspace.resolve(input.notebook_path)] };
  },
  // Loaded when it runs: most projects have no notebook.
  execute: async (input, context) => (await import("../run-notebook-edit.ts")).runNotebookEdit(input, context),
});
