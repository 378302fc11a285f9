import { existsSync } from "node:fs";
import { RuntimeError } from "@outrider/runtime";
import { nearest, replaceFileSync } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { takeOwnWords } from "../../flags/words.ts";
import { print, visible } from "../../terminal/visible.ts";
import { loadRun } from "./load-run.ts";
import { toReportHtml } from "./report-html.ts";

const usage = `Usage:
  outrider report SESSION|FILE [-o report.html] [--force]
                       a run as one page to look at: no network, no server, nothing to install
  outrider report SESSION|FILE -o -        to stdout

SESSION is an id, the first 8 or more characters of one, or a name. FILE is an ATIF trajectory of any version and agent, what
--output-format stream-json printed, a session's log, or a transcript of Claude Code: what it is, is told by what is in it.
Without -o the page is written to report-ID.html here. Secrets are hidden in it as they are in sessions.

Exit codes: 0 written · 64 wrong usage · 66 no such session or file · 78 tells of no run, or cannot be written
`;

const flags = { switches: ["--help", "-h", "--force"], values: ["--output", "-o"] };

/** A run as a page. */
export async function runReport(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, flags);
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const flag = words.rest.find((word) => word.startsWith("-"));
  if (flag !== undefined) throw misuse(`report has no flag ${flag}`, nearest(flag, [...flags.switches, ...flags.values]));
  const [word, ...more] = words.rest;
  if (word === undefined || more.length > 0) throw misuse("report takes one session or file");
  const { run, trajectory } = await loadRun(word);
  const html = toReportHtml(run, { trajectory });
  const path = words.value("--output") ?? words.value("-o") ?? `report-${run.id.replace(/[^\w.-]/g, "_").slice(0, 60)}.html`;
  if (path === "-") {
    await print(html);
    return exitCodes.success;
  }
  // A page of ours is made again; what is none is not ours to overwrite.
  if (existsSync(path) && !words.has("--force"))
    throw new RuntimeError("usage", `${path} exists already`, { hint: "--force overwrites it" });
  writeReport(path, html);
  process.stderr.write(`Written to ${visible(path)}\n`);
  return exitCodes.success;
}

function writeReport(path: string, html: string): void {
  try {
    replaceFileSync(path, html);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RuntimeError("storage-failed", `Cannot write ${path}: ${reason}`, { hint: "Choose another -o" });
  }
}

function misuse(message: string, guess?: string): RuntimeError {
  return new RuntimeError("usage", `${message}${guess === undefined ? "" : `; did you mean ${guess}?`}\n${usage}`);
}
