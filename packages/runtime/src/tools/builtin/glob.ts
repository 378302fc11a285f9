import { forgives } from "../forgiven/later.ts";
import type { SearchOptions } from "../bounded-search.ts";
import type { GlobInput } from "../aim-glob.ts";
import { defineTool, type Tool } from "../tool.ts";
import { globFacts } from "./facts.ts";

/** `ripgrep: false` keeps to the built-in walk even where ripgrep is installed; both find the same files. */
export function createGlobTool(options: SearchOptions = {}): Tool {
  return defineTool<GlobInput>({
    name: "Glob",
    description:
      "Finds files by name pattern, the most recently changed first, at most 100. Knows *, ?, ** (any number of directories), {a,b}, [abc] and " +
      "!(a|b). `*.ts` is only the directory itself, `**/*.ts` everything below it. Hidden files are included; files ignored by .gitignore are left " +
      "out, unless path or the fixed beginning of the pattern names an ignored directory. A pattern that ends in / finds folders: src/*/. Use Grep to search in files.",
    inputSchema: {
      type: "object",
      properties: {
        pattern: { type: "string", minLength: 1, description: "For example src/**/*.{ts,tsx}; relative to path, or absolute." },
        path: { type: "string", minLength: 1, description: "The directory to search in. Default: the working directory." },
      },
      required: ["pattern"],
      additionalProperties: false,
    },
    concurrent: true,
    forgives: forgives("glob"),
    facts: globFacts,
    placed: async (input, here) => ({ ...input, path: await here(input.path ?? ".") }),
    async access(input, workspace) {
      const { aimGlob } = await import("../aim-glob.ts"); // as what runs it: many runs search nothing
      return { kind: "look", resources: [(await aimGlob(input, workspace)).root] };
    },
    execute: async (input, context) => (await import("../run-glob.ts")).runGlob(input, context, options),
  });
}
