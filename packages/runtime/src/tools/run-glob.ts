import { join, relative } from "node:path";
import type { JsonObject } from "../protocol/content.ts";
import { aimGlob, type GlobInput, type GlobTarget } from "./aim-glob.ts";
import { type SearchOptions, searchInTime, statSearchRoot } from "./bounded-search.ts";
import { nameHere } from "./working-directory.ts";
import { leftOutNote } from "./left-out-note.ts";
import { listFiles, listFolders } from "./list-files.ts";
import { newestFirst } from "./newest-first.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "./tool.ts";

const maxResults = 100;

export async function runGlob(input: GlobInput, context: ToolContext, options: SearchOptions): Promise<ToolOutput> {
  const target = await aimGlob(input, context.workspace);
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
    const text = [await nothingFound(target, { exists: stat !== undefined, name, context, options }), ...note].join("\n");
    return { content: [{ type: "text", text }], details: { told: toldOf([], 0) } };
  }

  const sorted = await newestFirst(workspace, found);
  const filenames = sorted.slice(0, maxResults).map((path) => `${nameHere(context, path)}${target.folders ? "/" : ""}`);
  const shown = [...filenames];
  if (sorted.length > maxResults)
    shown.push(
      `[The ${maxResults} newest of ${sorted.length} ${target.folders ? "folders" : "files"} are shown. Narrow the pattern to see others.]`,
    );
  const told = toldOf(filenames, sorted.length);
  return { content: [{ type: "text", text: [...shown, ...note].join("\n") }], details: { told } };
}

function toldOf(filenames: string[], total: number): JsonObject {
  const numFiles = filenames.length;
  return { filenames, numFiles, truncated: numFiles < total, totalMatches: total, countIsComplete: true };
}

type Search = { exists: boolean; name: string; context: ToolContext; options: SearchOptions };

async function nothingFound(target: GlobTarget, { exists, name, context, options }: Search): Promise<string> {
  const { pattern, path, folders, root } = target;
  if (!exists) {
    const remedy = path === undefined ? "" : " Leave path out to search the working directory.";
    return `No files found: ${name} does not exist.${remedy}`;
  }
  const nothing = `No ${folders ? "folders" : "files"} match ${pattern} in ${displayName(name)}.`;
  const inside =
    folders || pattern.includes("**") ? [] : await searchInTime(context, options, (bounded) => listFolders(root, bounded));
  const count = inside.filter((folder) => target.matches(relative(root, folder))).length;
  if (count > 0)
    return `${nothing} ${count === 1 ? "A folder does" : `${count} folders do`}: ${pattern}/ finds folders, ${pattern}/** the files in them.`;
  const last = pattern.split("/").at(-1) ?? "";
  if (last !== "" && !/[*?[{]/.test(last) && !folders) {
    const { findAlike } = await import("./find-alike.ts");
    const alike = await findAlike(join(root, last), context);
    if (alike.length > 0) return `${nothing} Did you mean ${alike.map((one) => nameHere(context, one)).join(" or ")}?`;
  }
  if (pattern.includes("**")) return nothing;
  return `${nothing} To search the directories below it too, use ${pattern.slice(0, pattern.length - last.length)}**/${last || "*"}.`;
}

function displayName(name: string): string {
  return name === "." ? "the working directory" : name;
}
