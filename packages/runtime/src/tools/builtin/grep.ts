import { forgives } from "../forgiven/later.ts";
import type { JsonObject } from "../../protocol/content.ts";
import type { SearchOptions } from "../bounded-search.ts";
import type { GrepInput } from "../run-grep.ts";
import { defineTool, type Tool } from "../tool.ts";
import { grepFacts } from "./facts.ts";

const inputSchema: JsonObject = {
  type: "object",
  properties: {
    pattern: {
      type: "string",
      minLength: 1,
      description: "Regular expression in ripgrep's syntax; escape literal braces: interface\\{\\}.",
    },
    path: { type: "string", minLength: 1, description: "The directory or file to search in. Default: the working directory." },
    glob: {
      type: "string",
      minLength: 1,
      description: "Only files that match, for example *.{ts,tsx} or src/**; a leading ! excludes them.",
    },
    type: {
      type: "string",
      minLength: 1,
      description: "Only files of this type: ts, js, py, go, rust, java, md, json and so on.",
    },
    output_mode: {
      type: "string",
      enum: ["content", "files_with_matches", "count"],
      description:
        "content: the matching lines. files_with_matches (default): the files, newest first. count: matching lines per file.",
    },
    "-A": { type: "integer", minimum: 0, description: "Lines to show after each match (content only)." },
    "-B": { type: "integer", minimum: 0, description: "Lines to show before each match (content only)." },
    "-C": { type: "integer", minimum: 0, description: "Lines to show before and after each match (content only)." },
    "-n": { type: "boolean", description: "Show line numbers (content only). Default true." },
    "-i": { type: "boolean", description: "Ignore case. Default false." },
    multiline: { type: "boolean", description: "Let the pattern span lines, and . match line breaks. Default false." },
    "-o": { type: "boolean", description: "Show only the parts of lines that match (content only). Default false." },
    head_limit: { type: "integer", minimum: 0, description: "Show only the first lines or files. Default 250; 0 shows all." },
    offset: { type: "integer", minimum: 0, description: "Leave out this many lines or files first, to go on after head_limit." },
  },
  required: ["pattern"],
  additionalProperties: false,
};

/** `ripgrep: false` keeps to the built-in search even where ripgrep is installed; on ordinary patterns both find the same. */
export function createGrepTool(options: SearchOptions = {}): Tool {
  return defineTool<GrepInput>({
    name: "Grep",
    description:
      "Searches file contents with a regular expression. Answers with the files that match, or with output_mode content the matching lines " +
      "(path:line:text; context lines have - instead of :), or with count their number per file. Searches hidden files, leaves out binary files and " +
      "what .gitignore ignores, unless path names it. Use this instead of grep or rg in Bash; use Glob to find files by name.",
    inputSchema,
    concurrent: true,
    forgives: forgives("grep"),
    facts: grepFacts,
    placed: async (input, here) => ({ ...input, path: await here(input.path ?? ".") }),
    async access(input, workspace) {
      return { kind: "look", resources: [await workspace.resolve(input.path ?? ".")] };
    },
    // Loaded when it runs: many runs search nothing.
    execute: async (input, context) => (await import("../run-grep.ts")).runGrep(input, context, options),
  });
}
