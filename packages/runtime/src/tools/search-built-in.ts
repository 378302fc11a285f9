import { inTime, TookTooLong } from "../util/in-time.ts";
import { comparePaths } from "./newest-first.ts";
import { type FoundFile, type FoundLine, remedyFor, type SearchQuery, type SearchResult } from "./search.ts";
import { decodeText, splitLines } from "./text-file.ts";
import type { ToolContext } from "./tool.ts";
import { ToolFailure } from "./tool.ts";
import { foldLineEndings } from "./text-edit.ts";
import { passOver, walkFiles } from "./walk.ts";
import { messageOf } from "../util/message-of.ts";

const maxFileBytes = 20 * 1024 * 1024;

/**
 * The search for machines without ripgrep. The pattern is read as a JavaScript regular expression, which agrees with
 * ripgrep's on ordinary patterns. Known differences: `\A`, `\z`, `(?x)`, flags in the middle of a pattern, classes like
 * `[[:alpha:]]` and `[a&&b]` are not understood; `\w`, `\d` and `\b` know ASCII only; a lone `{` is a character, not an error.
 */
export async function searchBuiltIn(query: SearchQuery, context: ToolContext): Promise<SearchResult> {
  const { workspace, signal, mayRead } = context;
  const expression = compile(query);
  const found = query.rootIsFile
    ? [query.root]
    : (await walkFiles({ workspace, root: query.root, above: query.above, signal })).filter((path) => query.filter.matches(path));
  const paths = mayRead && !query.rootIsFile ? found.filter(mayRead) : found;
  const leftOut = found.length - paths.length;
  paths.sort(comparePaths);

  const files: FoundFile[] = [];
  let skipped = 0;
  let total = 0;
  for (const path of paths) {
    signal.throwIfAborted();
    const stat = await workspace.stat(path).catch(() => undefined);
    if (!stat) continue;
    if (stat.size > maxFileBytes) {
      skipped++;
      continue;
    }
    const bytes = await workspace.readFile(path, { maxBytes: maxFileBytes }).catch((error) => passOver(error, undefined));
    const decoded =
      bytes?.subarray(0, 65_536).includes(0) && !hasByteOrderMark(bytes)
        ? undefined
        : bytes && decodeText(bytes, { singleBytes: false });
    if (!decoded) continue;
    const matched = searchInTime(decoded.text, expression, query);
    if (matched.count === 0) continue;
    files.push({ path, ...matched });
    total += matched.lines.length;
    if (query.mode === "content" && total > query.maxLines) break;
  }
  return { files, skipped, leftOut };
}

function searchInTime(...search: Parameters<typeof searchText>): ReturnType<typeof searchText> {
  try {
    // On an unlucky line it can take exponential time; ripgrep cannot.
    return inTime(() => searchText(...search));
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    throw new ToolFailure(
      "The search failed: the pattern takes too long on one of the files. Use a simpler pattern, without nested repetition.",
    );
  }
}

function searchText(text: string, expression: RegExp, query: SearchQuery): { count: number; lines: FoundLine[] } {
  const lines = splitLines(text);
  const matching = new Set<number>();
  let count = 0;
  if (query.multiline) {
    for (const range of matchedRanges(foldLineEndings(text).text, expression)) {
      count++;
      for (let index = range.first; index <= range.last; index++) matching.add(index);
      if (query.mode === "files") break;
    }
  } else {
    for (const [index, line] of lines.entries()) {
      if (!expression.test(line)) continue;
      count++;
      matching.add(index);
      if (query.mode === "files" || (query.mode === "content" && count > query.maxLines)) break;
    }
  }
  if (query.mode !== "content") return { count, lines: [] };
  return { count, lines: query.onlyMatching ? matchesIn(text, expression, query) : withContext(lines, matching, query) };
}

/** Each match by itself, in the line it begins in; one that spans lines is several. Empty ones show nothing. */
function matchesIn(text: string, { source, flags }: RegExp, { multiline }: SearchQuery): FoundLine[] {
  const everywhere = new RegExp(source, [...new Set(`${flags}g`)].join(""));
  const pieces = multiline ? [foldLineEndings(text).text] : splitLines(text);
  return pieces.flatMap((piece, line) =>
    [...piece.matchAll(everywhere)].flatMap((match) => {
      const first = line + 1 + piece.slice(0, match.index).split("\n").length - 1;
      return splitLines(match[0]).map((found, index) => ({ number: first + index, text: found, isMatch: true }));
    }),
  );
}

/** The lines each match touches, counted from 0. */
function* matchedRanges(text: string, expression: RegExp): Generator<{ first: number; last: number }> {
  let line = 0;
  let counted = 0;
  const lineAt = (position: number): number => {
    for (let at = text.indexOf("\n", counted); at !== -1 && at < position; at = text.indexOf("\n", counted)) {
      line++;
      counted = at + 1;
    }
    return line;
  };
  for (const match of text.matchAll(expression)) {
    if (match.index === text.length && (text === "" || text.endsWith("\n"))) continue;
    const first = lineAt(match.index);
    yield { first, last: lineAt(Math.max(match.index, match.index + match[0].length - 1)) };
  }
}

function withContext(lines: string[], matching: Set<number>, query: SearchQuery): FoundLine[] {
  const shown = new Set<number>();
  for (const index of matching) {
    const last = Math.min(lines.length - 1, index + query.after);
    for (let at = Math.max(0, index - query.before); at <= last; at++) shown.add(at);
  }
  return [...shown]
    .sort((a, b) => a - b)
    .map((index) => ({ number: index + 1, text: lines[index] ?? "", isMatch: matching.has(index) }));
}

function compile(query: SearchQuery): RegExp {
  const inline = /^\(\?([ims]+)\)/.exec(query.pattern);
  const source = query.pattern.slice(inline?.[0].length ?? 0).replaceAll("(?P<", "(?<");
  const flags = new Set([...(query.multiline ? "gms" : ""), ...(query.ignoreCase ? "i" : ""), ...(inline?.[1] ?? "")]);
  // With `u` first, for whole characters and \p{…}; without it, for escapes of characters that need none.
  for (const more of ["u", ""]) {
    try {
      return new RegExp(source, [...flags].join("") + more);
    } catch (error) {
      if (more !== "") continue;
      const complaint = `regex parse error: ${messageOf(error)}`;
      throw new ToolFailure(`The search failed: ${complaint}${remedyFor(complaint)}`);
    }
  }
  throw new ToolFailure("The search failed: regex parse error");
}

function hasByteOrderMark(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}
