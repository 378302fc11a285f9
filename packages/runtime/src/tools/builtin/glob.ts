import { basename, dirname, isAbsolute, join, relative } from "node:path";
import type { Workspace } from "../../workspace/workspace.ts";
import { displayPath } from "../display-path.ts";
import { leftOutNote } from "../left-out-note.ts";
import { listFiles } from "../list-files.ts";
import { newestFirst } from "../newest-first.ts";
import type { Tool } from "../tool.ts";
import { defineTool, ToolFailure } from "../tool.ts";
import { orToolFailure } from "../workspace-failure.ts";
import { globFacts } from "./facts.ts";

type GlobInput = { pattern: string; path?: string };

const maxResults = 100;

/** `ripgrep: false` keeps to the built-in walk even where ripgrep is installed; both find the same files. */
export function createGlobTool(options: { ripgrep?: boolean } = {}): Tool {
  return defineTool<GlobInput>({
    name: "Glob",
    description:
      "Finds files by name pattern, the most recently changed first, at most 100. Knows *, ?, ** (any number of directories), {a,b}, [abc] and " +
      "!(a|b). `*.ts` is only the directory itself, `**/*.ts` everything below it. Hidden files are included; files ignored by .gitignore are left " +
      "out, unless path or the fixed beginning of the pattern names an ignored directory. Use Grep to search in files.",
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
    facts: globFacts,
    async access(input, workspace) {
      return { kind: "look", resources: [(await aim(input, workspace)).root] };
    },
    async execute(input, context) {
      const { workspace, mayRead } = context;
      const target = await aim(input, workspace);
      const name = displayPath(workspace.root, target.root);
      const stat = await orToolFailure(workspace.stat(target.root));
      if (stat && stat.kind !== "directory" && input.path !== undefined) throw new ToolFailure(`${name} is not a directory.`);
      const files = stat?.kind === "directory" ? await listFiles(target.root, context, { ripgrep: options.ripgrep ?? true }) : [];
      const matching = files.filter((path) => target.matches(relative(target.root, path)));
      const found = mayRead ? matching.filter(mayRead) : matching;
      const note = leftOutNote(matching.length - found.length);
      if (found.length === 0) {
        const text = [nothingFound(input, stat !== undefined, name), ...note].join("\n");
        return { content: [{ type: "text", text }] };
      }

      const sorted = await newestFirst(workspace, found);
      const shown = sorted.slice(0, maxResults).map((path) => displayPath(workspace.root, path));
      if (sorted.length > maxResults)
        shown.push(`[The ${maxResults} newest of ${sorted.length} files are shown. Narrow the pattern to see others.]`);
      return { content: [{ type: "text", text: [...shown, ...note].join("\n") }] };
    },
  });
}

type Target = { root: string; matches(path: string): boolean };

/** The part of the pattern before its first wildcard is only a path: walking starts there, and that is what permission is asked for. */
async function aim(input: GlobInput, workspace: Workspace): Promise<Target> {
  const { default: picomatch } = await import("picomatch");
  const start = input.path ?? ".";
  const { base, glob, negated, isGlob } = picomatch.scan(input.pattern);
  if (negated || base.includes("\\")) {
    return { root: await workspace.resolve(start), matches: picomatch(input.pattern, { dot: true }) };
  }
  const fixed = isAbsolute(base) || base.startsWith("~/") ? base : join(start, base);
  if (isGlob) return { root: await workspace.resolve(fixed), matches: picomatch(glob, { dot: true }) };
  const path = fixed.replace(/\/+$/, "");
  const wanted = basename(path);
  return { root: await workspace.resolve(dirname(path)), matches: (found) => found === wanted };
}

function nothingFound(input: GlobInput, exists: boolean, name: string): string {
  if (!exists) return `No files found: ${name} does not exist.`;
  const hint = input.pattern.includes("/") ? "" : ` To search the directories below it too, use **/${input.pattern}.`;
  return `No files match ${input.pattern} in ${displayName(name)}.${hint}`;
}

function displayName(name: string): string {
  return name === "." ? "the working directory" : name;
}
