import { createPaint } from "../../terminal/paint.ts";
import { clip, textWidth } from "../../terminal/text-width.ts";
import { visible } from "../../terminal/visible.ts";
import { dayOf } from "./days.ts";
import type { UsageReport, UsageRow } from "./usage-report.ts";

export type UsageView = {
  readonly limit: number;
  readonly columns: number;
  readonly coloured: boolean;
  readonly since: string | undefined;
};

/** What is no row of its own, but the rest, has no bar: it would dwarf the others. */
type Line = { readonly label: string; readonly row: Omit<UsageRow, "key">; readonly isRest?: true };

/** A table with a bar for each row, as long as its share of the dearest one. */
export function describeUsage(report: UsageReport, { limit, columns, coloured, since }: UsageView): string {
  const when = since === undefined ? "" : ` since ${since}`;
  if (report.rows.length === 0) return `No stored session has asked a model${when}\n`;
  const paint = createPaint(coloured);
  const lines = toLines(report, limit);
  const tokens = lines.every(({ row }) => row.knownUsd === 0);
  const measure = ({ knownUsd, usage }: Line["row"]): number => (tokens ? usage.inputTokens + usage.outputTokens : knownUsd);
  const longest = Math.max(...lines.filter(({ isRest }) => !isRest).map(({ row }) => measure(row)), Number.MIN_VALUE);
  const labelWidth = Math.min(Math.max(...lines.map(({ label }) => textWidth(label)), 5), Math.max(12, Math.floor(columns / 3)));
  const cells = [...lines.map(({ row }) => cellsOf(row)), cellsOf(report.total)];
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const facts = (row: Line["row"]): string =>
    cellsOf(row)
      .map((cell, column) => cell.padStart(widths[column] ?? 0))
      .join("  ");
  const room = Math.min(40, columns - labelWidth - widths.reduce((sum, width) => sum + width + 2, 0) - 3);
  const shown = lines.map(({ label, row, isRest }) => {
    const drawn = room < 4 || isRest ? "" : `  ${paint.green(bar(measure(row) / longest, room))}`;
    return `${pad(clip(label, labelWidth), labelWidth)}  ${facts(row)}${drawn}`.trimEnd();
  });
  const { sessions, calls, usage } = report.total;
  const cached = usage.inputTokens === 0 ? 0 : Math.round((100 * usage.cacheReadTokens) / usage.inputTokens);
  const total = `${pad("total", labelWidth)}  ${facts(report.total)}`;
  const closing = `${sessions} ${sessions === 1 ? "session" : "sessions"}, ${calls} ${calls === 1 ? "answer" : "answers"}${when}; ${cached} % of the input came from caches`;
  return [...shown, paint.bold(total), "", paint.dim(closing), ...unknownPrices(report).map(paint.yellow), ""].join("\n");
}

/** Also days on which nothing was asked: a chart of days has no gaps. The oldest, or the cheapest, share a line when there are too many. */
function toLines({ by, rows }: UsageReport, limit: number): Line[] {
  if (by !== "day") {
    const [shown, rest] = [rows.slice(0, limit), rows.slice(limit)];
    const others: Line[] = rest.length === 0 ? [] : [{ label: `${rest.length} others`, row: together(rest), isRest: true }];
    return [...shown.map((row) => ({ label: visible(row.key), row })), ...others];
  }
  const days = daysBetween(rows[0]?.key ?? "", rows.at(-1)?.key ?? "", limit);
  const first = days[0] ?? "";
  const earlier = rows.filter(({ key }) => key < first);
  const before: Line[] = earlier.length === 0 ? [] : [{ label: "earlier", row: together(earlier), isRest: true }];
  return [...before, ...days.map((day) => ({ label: day, row: rows.find(({ key }) => key === day) ?? together([]) }))];
}

/** The last ones, at most so many. Noon: no clock that is put forward takes a day away. */
function daysBetween(first: string, last: string, most: number): string[] {
  const days: string[] = [];
  const time = new Date(`${last}T12:00:00`);
  for (let day = last; day >= first && days.length < most; day = dayOf(time)) {
    days.unshift(day);
    time.setDate(time.getDate() - 1);
  }
  return days;
}

function together(rows: readonly UsageRow[]): Omit<UsageRow, "key"> {
  const add = (of: (row: UsageRow) => number): number => rows.reduce((sum, row) => sum + of(row), 0);
  const knownUsd = add((row) => row.knownUsd);
  return {
    sessions: add((row) => row.sessions),
    calls: add((row) => row.calls),
    usage: {
      inputTokens: add(({ usage }) => usage.inputTokens),
      outputTokens: add(({ usage }) => usage.outputTokens),
      cacheReadTokens: add(({ usage }) => usage.cacheReadTokens),
      cacheWriteTokens: add(({ usage }) => usage.cacheWriteTokens),
      reasoningTokens: add(({ usage }) => usage.reasoningTokens),
    },
    costUsd: rows.some(({ costUsd }) => costUsd === null) ? null : knownUsd,
    knownUsd,
    unpricedCalls: add((row) => row.unpricedCalls),
  };
}

/** A cost that is only a part of the truth has a sign for it. */
function cellsOf({ usage, knownUsd, unpricedCalls, calls }: Omit<UsageRow, "key">): string[] {
  if (calls === 0) return ["-", "", ""];
  const known = unpricedCalls === calls ? "?" : `${unpricedCalls > 0 ? "≥ " : ""}${dollars(knownUsd)}`;
  return [known, `${short(usage.inputTokens)} in`, `${short(usage.outputTokens)} out`];
}

function unknownPrices({ unpricedModels, total }: UsageReport): string[] {
  if (unpricedModels.length === 0) return [];
  const calls = `${total.unpricedCalls} ${total.unpricedCalls === 1 ? "answer has" : "answers have"}`;
  return [`${calls} no known price: ${unpricedModels.map(visible).join(", ")}. What you know of prices may stand in models.json`];
}

function dollars(usd: number): string {
  return `$${usd > 0 && usd < 0.01 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

function short(count: number): string {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

function bar(share: number, columns: number): string {
  const parts = Math.max(share > 0 ? 1 : 0, Math.round(share * columns * 8));
  return "█".repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? "");
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}
