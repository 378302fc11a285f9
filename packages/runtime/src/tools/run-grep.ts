import type { JsonObject } from "../protocol/content.ts";
import { type SearchOptions, searchInTime, statSearchRoot } from "./bounded-search.ts";
import { nameHere } from "./working-directory.ts";
import { createFileFilter } from "./file-filter.ts";
import { loadRulesAbove } from "./ignore-rules.ts";
import { leftOutNote } from "./left-out-note.ts";
import { comparePaths, newestFirst } from "./newest-first.ts";
import { cutLine } from "./numbered-lines.ts";
import { findRipgrep, ripgrepUnderstands } from "./ripgrep.ts";
import type { FoundFile, SearchQuery, SearchResult } from "./search.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "./tool.ts";

export type GrepInput = {
  pattern: string;
  path?: string;
  glob?: string;
  type?: string;
  output_mode?: "content" | "files_with_matches" | "count";
  "-A"?: number;
  "-B"?: number;
  "-C"?: number;
  "-n"?: boolean;
  "-i"?: boolean;
  "-o"?: boolean;
  multiline?: boolean;
  head_limit?: number;
  offset?: number;
};

const defaultHeadLimit = 250;

export async function runGrep(input: GrepInput, context: ToolContext, options: SearchOptions): Promise<ToolOutput> {
  const result = await searchInTime(context, options, async (bounded) => {
    const query = await toQuery(input, bounded);
    const useRipgrep = (options.ripgrep ?? true) && ripgrepUnderstands(query.above);
    return await runSearch(query, useRipgrep ? await findRipgrep(bounded) : undefined, bounded);
  });
  const { text, told } = await inWords(result, input, context);
  return { content: [{ type: "text", text }], details: { told: { mode: input.output_mode ?? "files_with_matches", ...told } } };
}

async function runSearch(query: SearchQuery, ripgrep: string | undefined, context: ToolContext): Promise<SearchResult> {
  const found = ripgrep && (await (await import("./search-with-ripgrep.ts")).searchWithRipgrep(query, ripgrep, context));
  return found || (await (await import("./search-built-in.ts")).searchBuiltIn(query, context));
}

async function toQuery(input: GrepInput, context: ToolContext): Promise<SearchQuery> {
  if (input.pattern.includes("\0")) throw new ToolFailure("The pattern contains a NUL character. Send it without.");
  if (!input.multiline && /\n|(?<!\\)(?:\\\\)*\\n/.test(input.pattern)) {
    throw new ToolFailure("The pattern contains a line break, which never matches within one line. Set multiline: true.");
  }
  const { workspace } = context;
  const root = await workspace.resolve(input.path ?? ".");
  const stat = await statSearchRoot(root, context);
  if (!stat) throw new ToolFailure(`${nameHere(context, root)} does not exist. Use Glob to find the right path.`);
  const { from, limit } = windowOf(input);
  const onlyMatching = input["-o"] ?? false;
  const rootIsFile = stat.kind !== "directory";
  return {
    pattern: input.pattern,
    root,
    rootIsFile,
    above: rootIsFile ? { rules: [], inGit: false } : await loadRulesAbove(workspace, root),
    filter: createFileFilter({ glob: input.glob, type: input.type, root, workspaceRoot: workspace.root }),
    mode: modes[input.output_mode ?? "files_with_matches"],
    before: onlyMatching ? 0 : (input["-B"] ?? input["-C"] ?? 0),
    after: onlyMatching ? 0 : (input["-A"] ?? input["-C"] ?? 0),
    ignoreCase: input["-i"] ?? false,
    multiline: input.multiline ?? false,
    onlyMatching,
    maxLines: from + limit,
  };
}

/** grep's older syntax has the backslash where this one has none. */
function syntaxNote({ pattern }: GrepInput): string[] {
  const sign = /(?<!\\)(?:\\\\)*\\([|(){}+?])/.exec(pattern)?.[1];
  if (sign === undefined) return [];
  return [`[\\${sign} stands for the character ${sign} itself here; without the backslash ${sign} has its meaning in patterns.]`];
}

/** A folder may ignore all that is in it, as the one with the worktrees does. */
async function hiddenNote({ path = "." }: GrepInput, { workspace }: ToolContext): Promise<string[]> {
  const file = `${await workspace.resolve(path)}/.gitignore`;
  const bytes = await workspace.readFile(file, { maxBytes: 1024 * 1024 }).catch(() => undefined);
  const hidesAll = bytes && /^\*\s*$/m.test(new TextDecoder().decode(bytes));
  return hidesAll ? ["[The .gitignore of this folder hides what is in it: search the folders in it one by one.]"] : [];
}

/** Which of the lines or files are shown: `limit` of them behind the first `from`. */
type Window = { readonly from: number; readonly limit: number };

function windowOf({ head_limit: limit = defaultHeadLimit, offset = 0 }: GrepInput): Window {
  return { from: offset, limit: limit === 0 ? Number.POSITIVE_INFINITY : limit };
}

const modes = { content: "content", files_with_matches: "files", count: "count" } as const;

type Worded = { readonly text: string; readonly told: JsonObject };

async function inWords(result: SearchResult, input: GrepInput, context: ToolContext): Promise<Worded> {
  const { files, skipped, leftOut } = result;
  const notes = [...(skipped > 0 ? [`[${skipped} files over 20 MB were not searched.]`] : []), ...leftOutNote(leftOut)];
  const worded = (lines: readonly string[], told: JsonObject): Worded => ({ text: [...lines, ...notes].join("\n"), told });
  if (files.length === 0) {
    notes.push(...syntaxNote(input), ...(await hiddenNote(input, context)));
    return worded(["No matches found."], toldOf([], { files: 0, total: 0, mode: input.output_mode }));
  }
  const window = windowOf(input);
  const { from, limit } = window;
  const end = from + limit;
  const name = (path: string): string => nameHere(context, path);
  const which = from === 0 ? `The first ${limit} lines` : `${limit} lines behind the first ${from}`;

  if (input.output_mode === "content") {
    const separated = !input["-o"] && (input["-A"] ?? 0) + (input["-B"] ?? 0) + (input["-C"] ?? 0) > 0;
    const found = files.reduce((sum, file) => sum + file.lines.length, 0);
    if (from >= found) return worded([pastEnd("lines", found, from)], toldOf([], { files: 0, total: found, mode: "content" }));
    const shown = contentLines(files, { window, name, separated, numbers: input["-n"] ?? true });
    if (found > end)
      notes.unshift(`[${which} are shown; there are more. Narrow the search, raise head_limit, or go on with offset ${end}.]`);
    return worded(shown, { numFiles: 0, filenames: [], content: null, numLines: shown.length, totalLines: found });
  }
  if (from >= files.length)
    return worded([pastEnd("files", files.length, from)], toldOf([], { files: files.length, total: 0, mode: input.output_mode }));
  if (input.output_mode === "count") {
    files.sort((a, b) => comparePaths(a.path, b.path));
    const total = files.reduce((sum, file) => sum + file.count, 0);
    const part = files.slice(from, end);
    notes.unshift(
      `[${total} in ${files.length} ${files.length === 1 ? "file" : "files"}${part.length < files.length ? `, ${part.length} of them shown` : ""}.]`,
    );
    const counts = part.map((file) => `${name(file.path)}:${file.count}`);
    return worded(counts, toldOf(counts, { files: files.length, total, mode: "count" }));
  }
  const sorted = await newestFirst(
    context.workspace,
    files.map((file) => file.path),
  );
  if (sorted.length > end) {
    const newest = from === 0 ? `The ${limit} newest` : `${limit} behind the newest ${from}`;
    notes.unshift(
      `[${newest} of ${sorted.length} files are shown. Narrow the search, raise head_limit, or go on with offset ${end}.]`,
    );
  }
  const filenames = sorted.slice(from, end).map(name);
  return worded(filenames, toldOf(filenames, { files: sorted.length, total: 0, mode: undefined }));
}

type Tally = { readonly files: number; readonly total: number; readonly mode: GrepInput["output_mode"] };

function toldOf(lines: string[], { files, total, mode }: Tally): JsonObject {
  if (mode === "content") return { numFiles: 0, filenames: [], content: "", numLines: 0, totalLines: total };
  if (mode === "count") return { numFiles: files, filenames: [], content: lines.join("\n"), numMatches: total };
  return { filenames: lines, numFiles: lines.length, totalFiles: files };
}

function pastEnd(what: string, found: number, from: number): string {
  return `There are ${found} ${what}; offset ${from} is past their end.`;
}

/** As grep prints it: `path:line:text` for a match, `path-line-text` for context, `--` between parts that do not touch. */
function contentLines(
  files: FoundFile[],
  options: { window: Window; name(path: string): string; separated: boolean; numbers: boolean },
): string[] {
  const { from, limit } = options.window;
  const shown: string[] = [];
  let passed = 0;
  for (const file of files) {
    const name = options.name(file.path);
    let previous: number | undefined;
    for (const line of file.lines) {
      if (passed++ < from) continue;
      if (passed > from + limit) return shown;
      const isApart = previous === undefined ? shown.length > 0 : line.number > previous + 1;
      if (options.separated && isApart) shown.push("--");
      const mark = line.isMatch ? ":" : "-";
      shown.push(`${name}${mark}${options.numbers ? `${line.number}${mark}` : ""}${cutLine(line.text, 1000)}`);
      previous = line.number;
    }
  }
  return shown;
}
