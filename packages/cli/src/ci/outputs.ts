import { clip } from "./clip.ts";
import type { RunReport } from "./run-report.ts";

/** All outputs of a job may have 1 MB together; what is longer is better read from a file. */
const maxResult = 200_000;
const maxStructured = 400_000;
const maxFileList = 100_000;

/** Values for later steps. `github`: any text, with a delimiter that cannot be in it. `dotenv`: one line each. */
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
    result: clip(outcome.text, maxResult),
    structured_output: structuredOf(report),
    changed_files: fileListOf(report),
  };
  return Object.entries(texts)
    .map(([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`)
    .join("");
}

/** Whole or not at all: half of a JSON value is none. */
function structuredOf({ outcome }: RunReport): string {
  if (outcome.type !== "completed" || outcome.structured === undefined) return "";
  const json = JSON.stringify(outcome.structured);
  return json.length <= maxStructured ? json : "";
}

/** One per line; a name that holds a line break, which no line can say, is left out. */
function fileListOf({ changedFiles, changedBeside }: RunReport): string {
  let room = maxFileList;
  return [...changedFiles, ...changedBeside]
    .filter((file) => !/[\r\n]/.test(file))
    .sort()
    .filter((file) => {
      room -= file.length + 1;
      return room >= 0;
    })
    .join("\n");
}
