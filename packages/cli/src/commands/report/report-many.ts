import { readdirSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import { replaceFileSync, makeFolder } from "@outrider/runtime/host";
import { type RunList, summaryOf } from "@outrider/web";
import * as assets from "@outrider/web/assets/index";
import { loadRun } from "./load-run.ts";
import { toPage } from "./page-html.ts";
import { toReportHtml } from "./report-html.ts";

/** Whoever names a folder with more means another one. */
const mostFiles = 10_000;

/** A page for each run and one that lists them all, in a folder of their own. Returns how many there are and what could not be read. */
export async function reportMany(words: readonly string[], folder: string): Promise<RunList> {
  makeFolder(join(folder, "runs"), 0o777);
  const runs: RunList["runs"][number][] = [];
  const unread: { file: string; why: string }[] = [];
  const names = new Set<string>();
  for (const word of words.flatMap(filesIn)) {
    try {
      const found = statSync(word, { throwIfNoEntry: false });
      if (found && !found.isFile()) throw new RuntimeError("no-input", "it is no file");
      const { run, trajectory } = await loadRun(word);
      const name = freeName(run.id, names);
      replaceFileSync(join(folder, "runs", name), toReportHtml(run, { trajectory }));
      runs.push(summaryOf(run, { word, href: `runs/${name}` }));
    } catch (error) {
      unread.push({ file: word, why: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) });
    }
  }
  const list: RunList = { madeAt: new Date().toISOString(), runs, unread };
  if (runs.length === 0) {
    const why = unread[0] ? `: ${unread[0].why}` : "";
    throw new RuntimeError("no-input", `Nothing that was named tells of a run${why}`);
  }
  replaceFileSync(join(folder, "index.html"), toPage(`${runs.length} runs · Outrider`, assets, { data: JSON.stringify(list) }));
  return list;
}

/** A folder stands for the logs and trajectories in it and below; pages and pictures beside them are passed over. */
function filesIn(word: string): string[] {
  if (statSync(word, { throwIfNoEntry: false })?.isDirectory() !== true) return [word];
  const found = readdirSync(word, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && /\.(?:jsonl?|ndjson)$/.test(entry.name))
    .map((entry) => join(relative(".", entry.parentPath) || ".", entry.name))
    .sort();
  if (found.length > mostFiles) throw new RuntimeError("usage", `${word} holds ${found.length} files: name a smaller folder`);
  return found;
}

function freeName(id: string, taken: Set<string>): string {
  const stem =
    basename(id)
      .replace(/[^\w.-]/g, "_")
      .slice(0, 60) || "run";
  for (let at = 1; ; at++) {
    const name = `${stem}${at === 1 ? "" : `-${at}`}.html`;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}
