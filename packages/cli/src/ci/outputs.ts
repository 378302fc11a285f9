import { clip } from "./clip.ts";
import type { RunReport } from "./run-report.ts";

/** Outputs are handed on in variables, and Linux starts no program with one of 128 KiB. What is longer is better read from a file. */
const maxBytes = 120_000;

/** Values for later steps. `github`: any text, with a delimiter that nobody could know before. `dotenv`: one line each. */
export function toOutputs(report: RunReport, format: "github" | "dotenv", delimiter: string): string {
  const { outcome } = report;
  const sum = (of: (model: RunReport["models"][number]) => number): string =>
    String(report.models.reduce((total, model) => total + of(model), 0));
  const scalars: Record<string, string> = {
    outcome: outcome.type,
    exit_code: String(report.exitCode),
    error_code: outcome.type === "failed" ? outcome.error.code : "",
    session_id: report.sessionId,
    num_turns: String(report.turns),
    num_denied: String(report.tools.reduce((total, tool) => total + tool.denied, 0)),
    duration_ms: String(report.durationMs),
    input_tokens: sum(({ inputTokens }) => inputTokens),
    output_tokens: sum(({ outputTokens }) => outputTokens),
    cost_usd: report.costUsd === null ? "" : String(report.costUsd),
  };
  if (format === "dotenv")
    return Object.entries(scalars)
      .map(([name, value]) => `OUTRIDER_${name.toUpperCase()}=${value}\n`)
      .join("");
  const texts: Record<string, string> = {
    ...scalars,
    result: fit(outcome.text),
    structured_output: structuredOf(report),
    changed_files: fileListOf(report),
  };
  return Object.entries(texts)
    .map(([name, value]) => `${name}<<${delimiter}\n${value.replaceAll("\0", "\ufffd")}\n${delimiter}\n`) // no variable holds a NUL
    .join("");
}

/** As much of it as a variable holds. */
function fit(text: string): string {
  for (let limit = maxBytes; ; limit = Math.floor(limit * 0.8)) {
    const short = clip(text, limit);
    if (Buffer.byteLength(short) <= maxBytes) return short;
  }
}

/** Whole or not at all: half of a JSON value is none. */
function structuredOf({ outcome }: RunReport): string {
  if (outcome.type !== "completed" || outcome.structured === undefined) return "";
  const json = JSON.stringify(outcome.structured);
  return Buffer.byteLength(json) <= maxBytes ? json : "";
}

/** One per line; a name that holds a line break, which no line can say, is left out. */
function fileListOf({ changedFiles, changedBeside }: RunReport): string {
  let room = maxBytes;
  return [...changedFiles, ...changedBeside]
    .filter((file) => !/[\r\n]/.test(file))
    .sort()
    .filter((file) => {
      room -= Buffer.byteLength(file) + 1;
      return room >= 0;
    })
    .join("\n");
}
