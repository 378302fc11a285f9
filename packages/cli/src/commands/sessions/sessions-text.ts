import type { Outcome } from "@outrider/runtime";
import type { SessionSummary } from "@outrider/runtime/admin";
import { visible } from "../../terminal/visible.ts";
import type { SessionReport, Spending, ToolReport, TurnReport } from "./session-report.ts";

/** One line per session in columns; names and folders only where there are some to show. Cut at `width`, if there is one. */
export function describeList(
  summaries: readonly SessionSummary[],
  { folders, width }: { folders: boolean; width: number | undefined },
): string {
  const rows = summaries.map(({ id, name = "", updatedAt, turns, bytes, cwd, prompt }) => [
    id,
    ...(summaries.some((summary) => summary.name !== undefined) ? [visible(name)] : []),
    toSeconds(updatedAt),
    `${turns} ${turns === 1 ? "turn" : "turns"}`,
    sizeOf(bytes),
    ...(folders ? [visible(cwd)] : []),
    visible(prompt),
  ]);
  const columns = (rows[0] ?? []).map((_, column) => rows.reduce((most, row) => Math.max(most, cellsOf(row[column] ?? "")), 0));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell + " ".repeat((columns[column] ?? 0) - cellsOf(cell))))
      .join("  ")
      .trimEnd(),
  );
  return lines.map((line) => `${width === undefined ? line : clip(line, width)}\n`).join("");
}

/** How many cells of a terminal a text takes: Chinese, Japanese, Korean and most pictures take two, marks on letters none. */
function cellsOf(text: string): number {
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  return Array.from(text).reduce((sum, character) => sum + (/\p{M}/u.test(character) ? 0 : isWide(character) ? 2 : 1), 0);
}

function isWide(character: string): boolean {
  return /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303e\uff01-\uff60]/u.test(
    character,
  );
}

function clip(line: string, width: number): string {
  if (cellsOf(line) <= width) return line;
  let shown = "";
  for (const character of line) {
    if (cellsOf(shown + character) >= width) break;
    shown += character;
  }
  return `${shown}…`;
}

/** Everything about one session. */
export function describeSession(report: SessionReport): string {
  const { id, name, cwd, createdAt, updatedAt, ended, models, forkedFrom, subagents, compactions, replay } = report;
  const lines = [
    fact("Session", id),
    ...(name === undefined ? [] : [fact("Name", name)]),
    fact("Folder", cwd),
    fact("Created", toSeconds(createdAt)),
    fact("Updated", `${toSeconds(updatedAt)}${ended === undefined ? ", open or cut off" : ""}`),
    fact("Model", models.join(", ") || "none answered"),
    fact("Mode", report.permissionMode),
    ...(forkedFrom ? [fact("Forked", `from ${forkedFrom.sessionId} after event ${forkedFrom.seq}`)] : []),
    fact("Journal", `${report.file} (${sizeOf(report.bytes)}, ${report.events} events)`),
    ...report.damage.map((problem) => fact("Damage", problem)),
    fact("Usage", describeUsage(report.spent)),
    fact("Cost", describeCost(report)),
    fact("Tools", report.tools.map(describeTool).join(", ") || "none"),
    ...(subagents > 0 ? [fact("Subagents", String(subagents))] : []),
    ...(compactions > 0 ? [fact("Compacted", compactions === 1 ? "once" : `${compactions} times`)] : []),
    ...report.warnings.slice(-5).map((warning) => fact("Warning", warning)),
    ...replay.issues.slice(0, 5).map(({ seq, code, message }) => fact("Replay", `event ${seq}: ${code}: ${message}`)),
    ...(replay.issues.length > 5 ? [fact("Replay", `and ${replay.issues.length - 5} more`)] : []),
  ];
  const turns = report.turnList.flatMap((turn, index) => [describeTurn(turn, index + 1), `    ${firstLine(turn.prompt)}`]);
  return [...lines, ...(turns.length > 0 ? ["", ...turns] : [])].map((line) => `${visible(line)}\n`).join("");
}

function fact(label: string, text: string): string {
  return `${`${label}:`.padEnd(11)}${text}`;
}

/** 512 B, 1.5 kB, 20 MB. */
export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const exponent = Math.min(Math.floor(Math.log10(bytes) / 3), 4);
  const value = bytes / 1000 ** exponent;
  return `${value < 10 ? Math.floor(value * 10) / 10 : Math.floor(value)} ${["B", "kB", "MB", "GB", "TB"][exponent]}`;
}

/** An instant to the second. */
export function toSeconds(at: string): string {
  return at.replace(/\.\d+Z$/, "Z");
}

/** How a turn went, in a word or a sentence. */
export function describeOutcome(outcome: Outcome | undefined): string {
  switch (outcome?.type) {
    case undefined:
      return "running or cut off";
    case "completed":
      return "completed";
    case "stopped":
      return `stopped by ${outcome.limit}${outcome.reason === undefined ? "" : `: ${outcome.reason}`}`;
    case "cancelled":
      return `cancelled (${outcome.cause})`;
    case "failed":
      return `failed: ${outcome.error.message}`;
  }
}

function describeUsage({ modelCalls, usage }: Spending): string {
  const { inputTokens, outputTokens, cacheReadTokens } = usage;
  const cached = cacheReadTokens > 0 ? ` (${cacheReadTokens} from the cache)` : "";
  return `${inputTokens} tokens in${cached}, ${outputTokens} out, ${modelCalls} model ${modelCalls === 1 ? "call" : "calls"}`;
}

function describeCost({ spent, spentBeforeFork }: SessionReport): string {
  const before = spentBeforeFork ? `, of which ${toDollars(spentBeforeFork)} before the fork` : "";
  return `${toDollars(spent)}${before}`;
}

function toDollars({ costUsd, knownUsd }: Spending): string {
  if (costUsd !== null) return `$${costUsd.toFixed(4)}`;
  return knownUsd > 0 ? `not known, at least $${knownUsd.toFixed(4)}` : "not known";
}

function describeTool({ name, calls, failed, denied }: ToolReport): string {
  const notes = [...(failed > 0 ? [`${failed} failed`] : []), ...(denied > 0 ? [`${denied} denied`] : [])];
  return `${name} ${calls}${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`;
}

function describeTurn(turn: TurnReport, number: number): string {
  const { seq, endSeq, at, outcome, modelCalls, toolCalls, durationMs, leftBehind } = turn;
  const parts = [
    ...(leftBehind ? ["left behind"] : []),
    describeOutcome(outcome),
    `${modelCalls} model ${modelCalls === 1 ? "call" : "calls"}`,
    `${toolCalls} tool ${toolCalls === 1 ? "call" : "calls"}`,
    ...(durationMs === undefined ? [] : [`${(durationMs / 1000).toFixed(1)} s`]),
    endSeq === undefined ? `from event ${seq}` : `events ${seq} to ${endSeq}`,
  ];
  return `${String(number).padStart(3)} ${toSeconds(at)}  ${parts.join(", ")}`;
}

function firstLine(text: string): string {
  const line = text.slice(0, 2000).replace(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}
