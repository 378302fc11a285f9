import { existsSync, statSync } from "node:fs";
import { RuntimeError } from "@outrider/runtime";
import { nearest } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { type OwnWords, takeOwnWords } from "../../flags/words.ts";
import { print, visible } from "../../terminal/visible.ts";
import { loadRun } from "./load-run.ts";
import { toReportHtml } from "./report-html.ts";
import { writePage } from "./write-page.ts";

const usage = `Usage:
  outrider report SESSION|FILE [-o report.html] [--force]
                       write a run as one web page: no network, no server, nothing to install
  outrider report SESSION|FILE -o -        to stdout
  outrider report DIR|SESSION|FILE… [-o FOLDER] [--force]
                       write a page for each run, and an index.html that lists, sorts and groups them

SESSION is an id, the first 8 or more characters of one, or a name. FILE is an ATIF trajectory of any version and agent, what
--output-format stream-json printed, a session's log, or a transcript of Claude Code; the kind is detected from the content.
DIR stands for all of these in it and below. By default a page is written to report-ID.html here, and many to the folder report.
Secrets are masked as in sessions.

Exit codes: 0 written · 64 wrong usage · 66 no such session or file · 78 tells of no run, or cannot be written
`;

const flags = { switches: ["--help", "-h", "--force"], values: ["--output", "-o"] };

/** A run as a page, or many with a page that lists them. */
export async function runReport(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, flags);
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const flag = words.rest.find((word) => word.startsWith("-"));
  if (flag !== undefined) throw misuse(`report has no flag ${flag}`, nearest(flag, [...flags.switches, ...flags.values]));
  const [word] = words.rest;
  if (word === undefined) throw misuse("report takes sessions or files");
  return words.rest.length > 1 || isFolder(word) ? await writeMany(words) : await writeOne(word, words);
}

async function writeOne(word: string, words: OwnWords): Promise<number> {
  const { run, trajectory } = await loadRun(word);
  const path = outputOf(words) ?? `report-${run.id.replace(/[^\w.-]/g, "_").slice(0, 60)}.html`;
  return await writePage(path, toReportHtml(run, { trajectory }), { isForced: words.has("--force") });
}

async function writeMany(words: OwnWords): Promise<number> {
  const folder = outputOf(words) ?? "report";
  if (existsSync(folder) && !isFolder(folder)) throw misuse(`${folder} is a file: many runs are written to a folder`);
  if (existsSync(`${folder}/index.html`) && !words.has("--force"))
    throw new RuntimeError("usage", `${folder}/index.html exists already`, { hint: "--force overwrites it" });
  const { reportMany } = await import("./report-many.ts");
  const { runs, unread } = await reportMany(words.rest, folder);
  for (const { file, why } of unread) process.stderr.write(`outrider: ${visible(file)} is left out: ${visible(why)}\n`);
  process.stderr.write(`${runs.length} ${runs.length === 1 ? "run" : "runs"}: written to ${visible(folder)}/index.html\n`);
  return exitCodes.success;
}

function outputOf(words: OwnWords): string | undefined {
  return words.value("--output") ?? words.value("-o");
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function misuse(message: string, guess?: string): RuntimeError {
  return new RuntimeError("usage", `${message}${guess === undefined ? "" : `; did you mean ${guess}?`}\n${usage}`);
}
