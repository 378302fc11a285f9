import type { Outcome } from "@outrider/runtime";
import type { RunReport } from "./run-report.ts";

const maxTask = 1_000;
const maxText = 50_000;
const maxFiles = 100;

/**
 * The report as Markdown. What the model or a user wrote stands in code blocks only: rendered, it could show pictures that
 * fetch from elsewhere, or links that are not what they seem.
 */
export function toMarkdown(report: RunReport): string {
  const { outcome, tools, changedFiles } = report;
  const text = outcome.type === "completed" ? outcome.text : outcome.text && `Last words: ${outcome.text}`;
  return [
    `## Outrider: ${headline(outcome)}`,
    "",
    ...(outcome.type === "failed"
      ? [escapeText(outcome.error.message), ...(outcome.error.hint ? ["", escapeText(outcome.error.hint)] : []), ""]
      : []),
    "**Task**",
    "",
    fence(clip(report.task, maxTask)),
    "",
    ...(text ? ["**Result**", "", fence(clip(text, maxText)), ""] : []),
    ...modelTable(report),
    ...(tools.length > 0 ? toolTable(report) : []),
    ...(changedFiles.length > 0 ? fileList(changedFiles) : []),
    `Session \`${report.sessionId}\`, exit code ${report.exitCode}`,
    "",
  ].join("\n");
}

export function headline(outcome: Outcome): string {
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
  const rows = models.map(({ name, inputTokens, outputTokens, costUsd: cost }) =>
    row([cell(name), count(inputTokens), count(outputTokens), dollars(cost)]),
  );
  return [
    row(["Model", "Input tokens", "Output tokens", "Cost"]),
    row(["---", "---:", "---:", "---:"]),
    ...rows,
    "",
    `${turns} ${turns === 1 ? "turn" : "turns"} in ${seconds(durationMs)}, ${dollars(costUsd)} in all`,
    "",
  ];
}

function toolTable({ tools }: RunReport): string[] {
  return [
    row(["Tool", "Calls", "Failed", "Denied", "Time"]),
    row(["---", "---:", "---:", "---:", "---:"]),
    ...tools.map((tool) => row([cell(tool.name), `${tool.calls}`, `${tool.failed}`, `${tool.denied}`, seconds(tool.durationMs)])),
    "",
  ];
}

function fileList(files: readonly string[]): string[] {
  const shown = files.slice(0, maxFiles).map((file) => `- ${code(file)}`);
  const more = files.length > maxFiles ? [`- and ${files.length - maxFiles} more`] : [];
  return [`**Changed files** (by Write and Edit)`, "", ...shown, ...more, ""];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function cell(text: string): string {
  return code(text).replaceAll("|", "\\|");
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

function escapeText(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]<>()#+!|~-]/g, "\\$&");
}

function clip(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}\n… (${text.length - limit} more characters)`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function seconds(ms: number): string {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

function dollars(value: number | null): string {
  return value === null ? "unknown cost" : `$${value.toFixed(4)}`;
}
