import { relative } from "node:path";
import { type SearchOptions, searchInTime, statSearchRoot } from "./bounded-search.ts";
import { nameHere } from "./working-directory.ts";
import { leftOutNote } from "./left-out-note.ts";
import { listFiles, listFolders } from "./list-files.ts";
import { newestFirst } from "./newest-first.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "./tool.ts";

export type GlobInput = { pattern: string; path?: string };

/** A pattern, the directory where walking starts, and what is meant there. */
export type GlobTarget = GlobInput & { root: string; folders: boolean; matches(path: string): boolean };

const maxResults = 100;

export async function runGlob(target: GlobTarget, context: ToolContext, options: SearchOptions): Promise<ToolOutput> {
  const { workspace, mayRead } = context;
  const name = nameHere(context, target.root);
  const stat = await statSearchRoot(target.root, context);
  if (stat && stat.kind !== "directory" && target.path !== undefined) throw new ToolFailure(`${name} is not a directory.`);
  const list = (bounded: ToolContext): Promise<string[]> =>
    target.folders ? listFolders(target.root, bounded) : listFiles(target.root, bounded, { ripgrep: options.ripgrep ?? true });
  const files = stat?.kind === "directory" ? await searchInTime(context, options, list) : [];
  const matching = files.filter((path) => target.matches(relative(target.root, path)));
  const found = mayRead && !target.folders ? matching.filter(mayRead) : matching;
  const note = leftOutNote(matching.length - found.length);
  if (found.length === 0) {
    const text = [nothingFound(target, stat !== undefined, name), ...note].join("\n");
    return { content: [{ type: "text", text }] };
  }

  const sorted = await newestFirst(workspace, found);
  const shown = sorted.slice(0, maxResults).map((path) => `${nameHere(context, path)}${target.folders ? "/" : ""}`);
  if (sorted.length > maxResults)
    shown.push(
      `[The ${maxResults} newest of ${sorted.length} ${target.folders ? "folders" : "files"} are shown. Narrow the pattern to see others.]`,
    );
  return { content: [{ type: "text", text: [...shown, ...note].join("\n") }] };
}

function nothingFound(input: GlobTarget, exists: boolean, name: string): string {
  if (!exists) return `No files found: ${name} does not exist.`;
  const hint = input.pattern.includes("/") ? "" : ` To search the directories below it too, use **/${input.pattern}.`;
  return `No ${input.folders ? "folders" : "files"} match ${input.pattern} in ${displayName(name)}.${hint}`;
}

function displayName(name: string): string {
  return name === "." ? "the working directory" : name;
}
