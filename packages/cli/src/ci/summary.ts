import type { Outcome } from "@outrider/runtime";
import { clip } from "./clip.ts";
import type { RunReport } from "./run-report.ts";

const maxTask = 1_000;
const maxCell = 200;
const maxMessage = 4_000;
const maxRows = 100;
const maxFiles = 100;
/** Tried in this order until the whole fits. */
const textLimits = [50_000, 5_000, 500, 0];

/**
 * The report as Markdown, in at most so many bytes; undefined when there is no room. What the model or a user wrote stands in
 * code blocks only: rendered, it could show pictures that fetch from elsewhere, or links that are not what they seem.
 */
export function toMarkdown(report: RunReport, maxBytes: number): string | undefined {
  return textLimits.map((limit) => render(report, limit)).find((text) => Buffer.byteLength(text) <= maxBytes);
}

function render(report: RunReport, maxText: number): string {
  const { outcome, tools, changedFiles, changedBeside, models } = report;
  const text = outcome.type === "completed" ? outcome.text : outcome.text && `Last words: ${outcome.text}`;
  return [
    `## Outrider: ${headline(outcome)}`,
    "",
    ...explanation(outcome),
    ...(report.task === undefined ? [] : [taskTitle(report), "", fence(clip(report.task, maxTask)), ""]),
    ...(text && maxText > 0 ? ["**Result**", "", fence(clip(text, maxText)), ""] : []),
    ...(models.length > 0 || report.turns > 0 ? modelTable(report) : []),
    ...(tools.length > 0 ? toolTable(report) : []),
    ...deniedList(report),
    ...fileList("Changed files (by Write and Edit)", changedFiles),
    ...fileList("Also changed during the run (seen by git status)", changedBeside),
    ...(report.page === undefined ? [] : [`The run as a page: ${code(report.page)}`, ""]),
    `${report.sessionId === "" ? "No session" : `Session ${code(report.sessionId)}`}, exit code ${report.exitCode}`,
    "",
  ].join("\n");
}

function taskTitle({ prompts }: RunReport): string {
  return prompts > 1 ? `**Task** (the first of ${prompts} prompts; the result is that of the last)` : "**Task**";
}

function explanation(outcome: Outcome): string[] {
  if (outcome.type === "stopped" && outcome.reason) return [fence(clip(outcome.reason, maxMessage)), ""];
  if (outcome.type !== "failed") return [];
  const { message, hint } = outcome.error;
  return [fence(clip(hint ? `${message}\n${hint}` : message, maxMessage)), ""];
}

function headline(outcome: Outcome): string {
  switch (outcome.type) {
    case "completed":
      return "✅ completed";
    case "stopped":
      return `⚠️ stopped (${outcome.limit})`;
    case "cancelled":
      return `⚠️ cancelled (${outcome.cause})`;
    case "failed":
      return `❌ failed (${outcome.error.code})`;
  }
}

function modelTable({ models, turns, durationMs, costUsd }: RunReport): string[] {
  const rows = models.map(({ name, inputTokens, cachedTokens, outputTokens, costUsd: cost }) =>
    row([cell(name), count(inputTokens), count(cachedTokens), count(outputTokens), dollars(cost)]),
  );
  return [
    row(["Model", "Input tokens", "of them cached", "Output tokens", "Cost"]),
    row(["---", "---:", "---:", "---:", "---:"]),
    ...rows,
    "",
    `${turns} ${turns === 1 ? "turn" : "turns"} in ${seconds(durationMs)}, ${costUsd === null ? "the cost is not known" : `${dollars(costUsd)} in all`}`,
    "",
  ];
}

function toolTable({ tools }: RunReport): string[] {
  return [
    row(["Tool", "Calls", "Failed", "Denied", "Time"]),
    row(["---", "---:", "---:", "---:", "---:"]),
    ...tools
      .slice(0, maxRows)
      .map((tool) => row([cell(tool.name), `${tool.calls}`, `${tool.failed}`, `${tool.denied}`, seconds(tool.durationMs)])),
    "",
  ];
}

function deniedList({ denied, tools }: RunReport): string[] {
  if (denied.length === 0) return [];
  const shown = denied.map(
    ({ tool, input, reason }) => `- ${code(tool)} ${code(input || "(nothing)")}: ${code(reason || "(no reason)")}`,
  );
  const more = tools.reduce((total, tool) => total + tool.denied, 0) - denied.length;
  return ["**Not permitted**", "", ...shown, ...(more > 0 ? [`- and ${more} more`] : []), ""];
}

function fileList(title: string, files: readonly string[]): string[] {
  if (files.length === 0) return [];
  const shown = files.slice(0, maxFiles).map((file) => `- ${code(clip(file, maxTask))}`);
  const more = files.length > maxFiles ? [`- and ${files.length - maxFiles} more`] : [];
  return [`**${title}**`, "", ...shown, ...more, ""];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** No `|` in it: rows are taken apart before code is, and what escapes one there depends on the backslashes before it. */
function cell(text: string): string {
  return code(clip(text, maxCell).replaceAll("|", "¦"));
}

/** As code, whatever backticks are in it. */
function code(text: string): string {
  const ticks = "`".repeat(longestRun(text) + 1);
  const padded = text.startsWith("`") || text.endsWith("`") ? ` ${text} ` : text;
  return `${ticks}${padded.replaceAll(/\s+/g, " ")}${ticks}`;
}

function fence(text: string): string {
  const ticks = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${ticks}text\n${text}\n${ticks}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function seconds(ms: number): string {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

function dollars(value: number | null): string {
  return value === null ? "not known" : `$${value.toFixed(4)}`;
}
