import { forgives } from "../forgiven/later.ts";
import type { ReadInput } from "../run-read.ts";
import { defineTool, type Tool } from "../tool.ts";
import { readFacts } from "./facts.ts";

export const readTool: Tool = defineTool<ReadInput>({
  name: "Read",
  description:
    "Reads one file. Text comes with line numbers (number, tab, line): at most 2000 lines or about 28,000 characters at a time, " +
    "and lines over 2000 characters are cut; the answer says where to go on, by line and by column. PNG, JPEG, GIF and WebP images up to 3.75 MB are shown as images, larger PNGs made smaller; a PDF is shown whole, or with pages as text; notebooks come cell by cell. " +
    "For a folder, the names in it are listed. A file must be read before Edit or Write may change it. Use Glob to find files and Grep to search in them.",
  inputSchema: {
    type: "object",
    properties: {
      file_path: { type: "string", minLength: 1, description: "The file: absolute, or relative to the working directory." },
      offset: {
        type: "integer",
        minimum: 1,
        description: "First line to show, counted from 1. For files too long for one answer.",
      },
      limit: { type: "integer", minimum: 1, description: "How many lines to show. Default 2000." },
      pages: {
        type: "string",
        minLength: 1,
        description: "For a PDF: show the text of these pages, for example 3 or 1-5. Without it the whole document is shown.",
      },
      column: {
        type: "integer",
        minimum: 1,
        description: "First character of each line to show, counted from 1. For lines that were cut.",
      },
    },
    required: ["file_path"],
    additionalProperties: false,
  },
  concurrent: true,
  forgives: forgives("read"),
  facts: readFacts,
  placed: async (input, here) => ({ ...input, file_path: await here(input.file_path) }),
  async access(input, workspace) {
    return { kind: "look", resources: [await workspace.resolve(input.file_path)] };
  },
  // Loaded when it runs: it is much, and a start should load little.
  execute: async (input, context) => (await import("../run-read.ts")).runRead(input, context),
});
