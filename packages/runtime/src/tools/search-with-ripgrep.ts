import { listFiles } from "./list-files.ts";
import { ripgrepArguments, ripgrepRoots, runRipgrep } from "./ripgrep.ts";
import type { FoundFile, FoundLine, SearchQuery, SearchResult } from "./search.ts";
import { splitLines } from "./text-file.ts";
import type { ToolContext } from "./tool.ts";

/** Undefined when ripgrep can never come to an end here. */
export async function searchWithRipgrep(
  query: SearchQuery,
  ripgrep: string,
  context: ToolContext,
): Promise<SearchResult | undefined> {
  const { mayRead, workspace } = context;
  const { above, root } = query;
  // Decided on what ripgrep says: to it, a glob that excludes is only one more pattern.
  const isShown = (path: string): boolean =>
    query.rootIsFile || (query.filter.matches(path) && (mayRead === undefined || mayRead(path)));
  const collector = query.mode === "content" ? collectContent(query, isShown) : collectNames(query, isShown);
  const searching = runRipgrep({
    ripgrep,
    args: ripgrepArguments({
      above,
      args: [...commonArguments(query), ...collector.args],
      roots: await ripgrepRoots(workspace, root),
    }),
    separator: collector.separator,
    context,
    isStuck: async (signal) => (await import("./odd-rules.ts")).hasOddRules({ workspace, root, above, signal }),
    onRecord: collector.onRecord,
  });
  const [leftOut, isDone] = await Promise.all([countProtected(query, context), searching]);
  return isDone ? { files: collector.files, skipped: 0, leftOut } : undefined;
}

async function countProtected({ root, rootIsFile, filter }: SearchQuery, context: ToolContext): Promise<number> {
  const { mayRead } = context;
  if (!mayRead || rootIsFile) return 0;
  const files = await listFiles(root, context, { ripgrep: true });
  return files.filter((path) => filter.matches(path) && !mayRead(path)).length;
}

type Collector = { args: string[]; separator: "\n" | "\0"; files: FoundFile[]; onRecord(record: string): boolean };

function commonArguments(query: SearchQuery): string[] {
  return [
    `--regexp=${query.multiline ? query.pattern.replaceAll("\n", "\\n") : query.pattern}`,
    // Look-around and back-references are not in ripgrep's own engine; with `auto` it takes PCRE2 for them, where it was built in.
    "--engine=auto",
    "--crlf",
    query.ignoreCase ? "--ignore-case" : "--case-sensitive",
    ...(query.multiline ? ["--multiline", "--multiline-dotall"] : []),
    // A type rather than a glob: a glob on the command line would bring ignored files back.
    ...(query.filter.names ?? []).map((name) => `--type-add=wanted:${name}`),
    ...(query.filter.names ? ["--type=wanted"] : []),
  ];
}

function collectNames(query: SearchQuery, isShown: (path: string) => boolean): Collector {
  const files: FoundFile[] = [];
  let beginning = "";
  const counting = query.mode === "count";
  const countArgument = query.multiline ? "--count-matches" : "--count";
  return {
    args: counting ? [countArgument, "--with-filename", "--null"] : ["--files-with-matches", "--null"],
    separator: counting ? "\n" : "\0",
    files,
    onRecord(record) {
      const [name = "", count] = record.split("\0");
      const path = beginning + name;
      // A line end in the name of a file, which is not where its record ends.
      beginning = counting && count === undefined ? `${path}\n` : "";
      if (beginning === "" && isShown(path)) files.push({ path, count: Number(count ?? 0), lines: [] });
      return true;
    },
  };
}

function collectContent(query: SearchQuery, isShown: (path: string) => boolean): Collector {
  const files: FoundFile[] = [];
  let current: FoundFile | undefined;
  let total = 0;
  return {
    args: ["--json", "--sort=path", `--before-context=${query.before}`, `--after-context=${query.after}`],
    separator: "\n",
    files,
    onRecord(record) {
      const event = parseEvent(record, query.onlyMatching);
      if (event.type === "begin") {
        current = isShown(event.path) ? { path: event.path, count: 0, lines: [] } : undefined;
      }
      if (event.type === "lines") {
        for (const line of event.lines) current?.lines.push(line);
      }
      // A file is taken whole or not at all, since that it is binary may show only at its end; an endless one is cut.
      const isOver = event.type === "end" || total + (current?.lines.length ?? 0) > query.maxLines;
      if (current && isOver) {
        if (event.type !== "end" || !event.isBinary) {
          files.push(current);
          total += current.lines.length;
        }
        current = undefined;
      }
      return total <= query.maxLines;
    },
  };
}

type RipgrepEvent =
  | { type: "begin"; path: string }
  | { type: "lines"; lines: FoundLine[] }
  | { type: "end"; isBinary: boolean }
  | { type: "other" };

/** ripgrep's JSON lines: text is `{ text }`, or base64 `{ bytes }` where it is not UTF-8. */
function parseEvent(record: string, onlyMatching: boolean): RipgrepEvent {
  // The shape is ripgrep's documented one; a field that is missing reads as undefined.
  const { type, data } = JSON.parse(record) as { type: string; data: RipgrepData };
  if (type === "begin") return { type, path: textOf(data.path) };
  if (type === "end") return { type, isBinary: typeof data.binary_offset === "number" };
  if (type !== "match" && type !== "context") return { type: "other" };
  const first = data.line_number ?? 1;
  const isMatch = type === "match";
  if (onlyMatching) return { type: "lines", lines: matchesIn(data, first) };
  return {
    type: "lines",
    lines: splitLines(textOf(data.lines)).map((text, index) => ({ number: first + index, text, isMatch })),
  };
}

/** Each match by itself, in the line it begins in; one that spans lines is several. */
function matchesIn({ lines, submatches = [] }: RipgrepData, first: number): FoundLine[] {
  const bytes = Buffer.from(textOf(lines), "utf8"); // positions count bytes
  return submatches.flatMap(({ match, start }) => {
    const number = first + bytes.subarray(0, start).toString("latin1").split("\n").length - 1;
    return splitLines(textOf(match)).map((text, index) => ({ number: number + index, text, isMatch: true }));
  });
}

type RipgrepText = { text?: string; bytes?: string };
type RipgrepData = {
  path?: RipgrepText;
  lines?: RipgrepText;
  line_number?: number;
  binary_offset?: number | null;
  submatches?: { match: RipgrepText; start: number }[];
};

function textOf(value: RipgrepText | undefined): string {
  return value?.text ?? Buffer.from(value?.bytes ?? "", "base64").toString("utf8");
}
