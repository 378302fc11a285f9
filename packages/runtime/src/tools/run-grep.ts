import { type SearchOptions, searchInTime, statSearchRoot } from "./bounded-search.ts";
import { displayPath } from "./display-path.ts";
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
  multiline?: boolean;
  head_limit?: number;
};

const defaultHeadLimit = 250;

export async function runGrep(input: GrepInput, context: ToolContext, options: SearchOptions): Promise<ToolOutput> {
  const result = await searchInTime(context, options, async (bounded) => {
    const query = await toQuery(input, bounded);
    const useRipgrep = (options.ripgrep ?? true) && ripgrepUnderstands(query.above);
    return await runSearch(query, useRipgrep ? await findRipgrep(bounded) : undefined, bounded);
  });
  return { content: [{ type: "text", text: await inWords(result, input, context) }] };
}

async function runSearch(query: SearchQuery, ripgrep: string | undefined, context: ToolContext): Promise<SearchResult> {
  const found = ripgrep && (await (await import("./search-with-ripgrep.ts")).searchWithRipgrep(query, ripgrep, context));
  return found || (await (await import("./search-built-in.ts")).searchBuiltIn(query, context));
}

async function toQuery(input: GrepInput, context: ToolContext): Promise<SearchQuery> {
  if (input.pattern.includes("\0")) throw new ToolFailure("The pattern contains a NUL character.");
  if (!input.multiline && /\n|(?<!\\)(?:\\\\)*\\n/.test(input.pattern)) {
    throw new ToolFailure("The pattern contains a line break, which never matches within one line. Set multiline: true.");
  }
  const { workspace } = context;
  const root = await workspace.resolve(input.path ?? ".");
  const stat = await statSearchRoot(root, context);
  if (!stat) throw new ToolFailure(`${displayPath(workspace.root, root)} does not exist. Use Glob to find the right path.`);
  const headLimit = input.head_limit ?? defaultHeadLimit;
  const rootIsFile = stat.kind !== "directory";
  return {
    pattern: input.pattern,
    root,
    rootIsFile,
    above: rootIsFile ? { rules: [], inGit: false } : await loadRulesAbove(workspace, root),
    filter: await createFileFilter({ glob: input.glob, type: input.type, root, workspaceRoot: workspace.root }),
    mode: modes[input.output_mode ?? "files_with_matches"],
    before: input["-B"] ?? input["-C"] ?? 0,
    after: input["-A"] ?? input["-C"] ?? 0,
    ignoreCase: input["-i"] ?? false,
    multiline: input.multiline ?? false,
    maxLines: headLimit === 0 ? Number.POSITIVE_INFINITY : headLimit,
  };
}

const modes = { content: "content", files_with_matches: "files", count: "count" } as const;

async function inWords(result: SearchResult, input: GrepInput, { workspace }: ToolContext): Promise<string> {
  const { files, skipped, leftOut } = result;
  const notes = [...(skipped > 0 ? [`[${skipped} files over 20 MB were not searched.]`] : []), ...leftOutNote(leftOut)];
  if (files.length === 0) return ["No matches found.", ...notes].join("\n");
  const limit = input.head_limit === 0 ? Number.POSITIVE_INFINITY : (input.head_limit ?? defaultHeadLimit);
  const name = (path: string): string => displayPath(workspace.root, path);

  if (input.output_mode === "content") {
    const separated = (input["-A"] ?? 0) + (input["-B"] ?? 0) + (input["-C"] ?? 0) > 0;
    const shown = contentLines(files, { limit, name, separated, numbers: input["-n"] ?? true });
    if (files.reduce((sum, file) => sum + file.lines.length, 0) > limit) {
      notes.unshift(`[The first ${limit} lines are shown; there are more. Narrow the search or raise head_limit.]`);
    }
    return [...shown, ...notes].join("\n");
  }
  if (input.output_mode === "count") {
    files.sort((a, b) => comparePaths(a.path, b.path));
    const total = files.reduce((sum, file) => sum + file.count, 0);
    notes.unshift(
      `[${total} in ${files.length} ${files.length === 1 ? "file" : "files"}${files.length > limit ? `, ${limit} of them shown` : ""}.]`,
    );
    return [...files.slice(0, limit).map((file) => `${name(file.path)}:${file.count}`), ...notes].join("\n");
  }
  const sorted = await newestFirst(
    workspace,
    files.map((file) => file.path),
  );
  if (sorted.length > limit)
    notes.unshift(`[The ${limit} newest of ${sorted.length} files are shown. Narrow the search or raise head_limit.]`);
  return [...sorted.slice(0, limit).map(name), ...notes].join("\n");
}

/** As grep prints it: `path:line:text` for a match, `path-line-text` for context, `--` between parts that do not touch. */
function contentLines(
  files: FoundFile[],
  options: { limit: number; name(path: string): string; separated: boolean; numbers: boolean },
): string[] {
  const shown: string[] = [];
  let left = options.limit;
  for (const file of files) {
    const name = options.name(file.path);
    let previous: number | undefined;
    for (const line of file.lines) {
      if (left-- <= 0) return shown;
      const isApart = previous === undefined ? shown.length > 0 : line.number > previous + 1;
      if (options.separated && isApart) shown.push("--");
      const mark = line.isMatch ? ":" : "-";
      shown.push(`${name}${mark}${options.numbers ? `${line.number}${mark}` : ""}${cutLine(line.text, 1000)}`);
      previous = line.number;
    }
  }
  return shown;
}
