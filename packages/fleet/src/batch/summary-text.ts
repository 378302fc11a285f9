import type { BatchSummary, ModelLine } from "./statistics.ts";

/** A table for a person: how often each model passed, with what it took. */
export function summaryText(summary: BatchSummary): string {
  const { total, finished, passed, failed } = summary;
  const left = total - finished;
  const head = `${finished} of ${total} done: ${passed} passed, ${failed} not${left > 0 ? `, ${left} left` : ""} · ${toUsd(summary.costUsd)}`;
  const rows = [
    ["model", "passed", "rate", "95 % interval", "cost", "tokens in/out", "p50", "p95"],
    ...summary.models.map(toRow),
  ];
  if (rows.length === 1) return `${head}\n`;
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length))) ?? [];
  const lines = rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join("  "),
  );
  return `${head}\n\n${lines.join("\n")}\n`;
}

function toRow(line: ModelLine): string[] {
  return [
    line.model,
    `${line.passed}/${line.results}`,
    toPercent(line.passRate),
    `${toPercent(line.low)}–${toPercent(line.high)}`,
    toUsd(line.costUsd),
    `${line.inputTokens}/${line.outputTokens}`,
    toTime(line.p50Ms),
    toTime(line.p95Ms),
  ];
}

export function toUsd(usd: number | null): string {
  return usd === null ? "cost unknown" : `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

export function toPercent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function toTime(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} m ${Math.round((ms % 60_000) / 1_000)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}
