import type { BackgroundTaskLogCursor, BackgroundTaskLogPage } from "./task-contract.ts";

export type LogSource = "stdout" | "stderr" | "system";

export const linesPerPage = 200;

/**
 * Adds what a source printed as lines that name it, and answers the beginning of a line that has not come to its end; give that back as `rest`
 * with the next piece. Blank lines are lines.
 */
export function appendPrefixedLogLines(lines: string[], source: LogSource, text: string, rest: string = ""): string {
  const parts = (rest + text).split("\n");
  const open = parts.pop() ?? "";
  for (const part of parts) lines.push(`[${source}] ${part.replace(/\r$/, "")}`);
  return open;
}

/** A page of lines. While the task `isOpen` there is always a place to read on from. */
export function createBackgroundTaskLogPage(
  taskId: string,
  lines: readonly string[],
  {
    cursor,
    isOpen = false,
  }: { readonly cursor?: BackgroundTaskLogCursor | undefined; readonly isOpen?: boolean | undefined } = {},
): BackgroundTaskLogPage {
  const offset = Math.max(0, Math.trunc(cursor?.offset ?? 0));
  const page = lines.slice(offset, offset + linesPerPage);
  return toPage({ taskId, offset, lines: page, total: lines.length, isOpen }, cursor);
}

export function toPage(
  facts: {
    readonly taskId: string;
    readonly offset: number;
    readonly lines: readonly string[];
    readonly total: number;
    readonly isOpen: boolean;
  },
  cursor: BackgroundTaskLogCursor | undefined,
): BackgroundTaskLogPage {
  const { taskId, offset, lines, total, isOpen } = facts;
  const next = offset + lines.length;
  const goesOn = isOpen || next < total;
  return { taskId, ...(cursor && { cursor }), ...(goesOn && { nextCursor: { offset: next } }), lines };
}
