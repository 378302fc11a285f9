import type { RunReport } from "./run-report.ts";

/** Values for later steps. `github`: any text, with a delimiter that cannot be in it. `dotenv`: one line each. */
export function toOutputs(report: RunReport, format: "github" | "dotenv", delimiter: string): string {
  const { outcome } = report;
  const scalars: Record<string, string> = {
    outcome: outcome.type,
    exit_code: String(report.exitCode),
    session_id: report.sessionId,
    num_turns: String(report.turns),
    cost_usd: report.costUsd === null ? "" : String(report.costUsd),
  };
  if (format === "dotenv")
    return Object.entries(scalars)
      .map(([name, value]) => `OUTRIDER_${name.toUpperCase()}=${value}\n`)
      .join("");
  const texts: Record<string, string> = {
    ...scalars,
    result: outcome.text,
    structured_output: outcome.type === "completed" && outcome.structured !== undefined ? JSON.stringify(outcome.structured) : "",
    changed_files: report.changedFiles.join("\n"),
  };
  return Object.entries(texts)
    .map(([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`)
    .join("");
}
