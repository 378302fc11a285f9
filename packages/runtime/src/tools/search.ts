import type { FileFilter } from "./file-filter.ts";
import type { RulesAbove } from "./ignore-rules.ts";

/** One search, parsed. Both ways of searching, ripgrep and the built-in one, answer it the same. */
export type SearchQuery = {
  readonly pattern: string;
  /** Absolute real path of a directory or of one file. */
  readonly root: string;
  readonly rootIsFile: boolean;
  readonly above: RulesAbove;
  readonly filter: FileFilter;
  readonly mode: "content" | "files" | "count";
  readonly before: number;
  readonly after: number;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  /** Content only: the parts of lines that match, each on a line of its own, without context. */
  readonly onlyMatching: boolean;
  /** Content only: stop when there are more lines than this. */
  readonly maxLines: number;
};

export type FoundLine = { number: number; text: string; isMatch: boolean };

/** `count`: matching lines, or matches when they may span lines; only for mode count. `lines`: only for mode content. */
export type FoundFile = { path: string; count: number; lines: FoundLine[] };

/**
 * For content the files are sorted by path; `skipped` counts files that were too large to search. `leftOut` counts those that may not
 * be read, whether or not the pattern is in them: a number that told would let a search spell out what they hold.
 */
export type SearchResult = { files: FoundFile[]; skipped: number; leftOut: number };

/** Most expressions that cannot be read were meant as plain text. */
export function remedyFor(complaint: string): string {
  return /regex/i.test(complaint) ? "\nTo find one of ()[]{}.*+?|^$\\ itself, put a \\ before it." : "";
}
