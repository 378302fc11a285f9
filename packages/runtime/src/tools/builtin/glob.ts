import { basename, dirname, isAbsolute, join } from "node:path";
import type { Workspace } from "../../workspace/workspace.ts";
import type { SearchOptions } from "../bounded-search.ts";
import type { GlobInput, GlobTarget } from "../run-glob.ts";
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
    forgives: { needed: [] },
    facts: globFacts,
    placed: async (input, here) => ({ ...input, path: await here(input.path ?? ".") }),
    async access(input, workspace) {
      return { kind: "look", resources: [(await aim(input, workspace)).root] };
    },
    // Loaded when it runs: many runs search nothing.
    execute: async (input, context) =>
      (await import("../run-glob.ts")).runGlob(await aim(input, context.workspace), context, options),
  });
}

/** The part of the pattern before its first wildcard is only a path: walking starts there, and that is what permission is asked for. */
async function aim(input: GlobInput, workspace: Workspace): Promise<GlobTarget> {
  const { default: picomatch } = await import("picomatch");
  const start = input.path ?? ".";
  const folders = /[^/]\/+$/.test(input.pattern);
  const pattern = folders ? input.pattern.replace(/\/+$/, "") : input.pattern;
  const { base, glob, negated, isGlob } = picomatch.scan(pattern);
  if (negated || base.includes("\\")) {
    return { ...input, folders, root: await workspace.resolve(start), matches: picomatch(pattern, { dot: true }) };
  }
  const fixed = isAbsolute(base) || base.startsWith("~/") ? base : join(start, base);
  if (isGlob) return { ...input, folders, root: await workspace.resolve(fixed), matches: picomatch(glob, { dot: true }) };
  const path = fixed.replace(/\/+$/, "");
  const wanted = basename(path);
  return { ...input, folders, root: await workspace.resolve(dirname(path)), matches: (found) => found === wanted };
}
