import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { createFileStore, RuntimeError } from "@outrider/runtime";
import { readJournalFile } from "@outrider/runtime/admin";
import { loadCallPrice, toTrajectoryDocument } from "@outrider/runtime/atif";
import { createRedactor, loadCatalogOverride, outriderHome } from "@outrider/runtime/host";
import { fromEvents, readRun, type RunModel } from "@outrider/web";
import { findSession } from "../../request/find-session.ts";
import { visible } from "../../terminal/visible.ts";

/** Longer files are no runs that a page could show. */
const maxFileBytes = 1024 * 1024 * 1024;
const maxPictureBytes = 5 * 1024 * 1024;

export type LoadedRun = { readonly run: RunModel; readonly trajectory?: string };

/** A word names a file where there is one, and else a session of ours. */
export async function loadRun(word: string): Promise<LoadedRun> {
  return isFile(word) ? await loadFile(word) : await loadSession(word);
}

async function loadSession(word: string): Promise<LoadedRun> {
  const home = outriderHome(process.env);
  const sessions = join(home, "sessions");
  const id = await findSession(createFileStore(sessions), word);
  const { events, warnings } = await readJournalFile(join(sessions, `${id}.jsonl`));
  for (const warning of warnings) process.stderr.write(`outrider: ${visible(warning)}\n`);
  const priceOf = await loadCallPrice(await loadCatalogOverride(home));
  const document = toTrajectoryDocument(events, { priceOf });
  if (!document) throw new RuntimeError("no-input", `Nothing has happened in session ${id} yet`);
  return { run: fromEvents(events, { priceOf }), trajectory: JSON.stringify(document.trajectory, null, 2) };
}

/** What comes from elsewhere may hold secrets that nobody has hidden yet: they are hidden like our own. */
async function loadFile(path: string): Promise<LoadedRun> {
  const home = outriderHome(process.env);
  const text = readText(path);
  const priceOf = await loadCallPrice(await loadCatalogOverride(home));
  const run = readRun(text, { priceOf, loadPicture: (name) => readPicture(dirname(resolve(path)), name) });
  if (!run) {
    throw new RuntimeError("config", `${path} tells of no run`, {
      hint: "It must be a session's log, an ATIF trajectory, what --output-format stream-json printed, or a transcript of Claude Code",
    });
  }
  const redactor = createRedactor({ env: process.env });
  const trajectory = run.source === "trajectory" ? redactor.text(text) : undefined;
  return { run: maskedIn(run, (part) => redactor.text(part)) as RunModel, ...(trajectory !== undefined && { trajectory }) };
}

/** Every string of it, names and ids too; only the bytes of pictures stay as they are. */
function maskedIn(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskedIn(item, mask));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, key === "data" ? item : maskedIn(item, mask)]));
}

function readText(path: string): string {
  try {
    if (statSync(path).size > maxFileBytes) throw new Error("it is larger than 1 GB");
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new RuntimeError("no-input", `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isFile(word: string): boolean {
  return statSync(word, { throwIfNoEntry: false })?.isFile() === true;
}

/** Only what lies beside the trajectory or below: a document from elsewhere must not say which files of this machine are put into a page. */
function readPicture(folder: string, name: string): string | undefined {
  if (name.includes("://")) return undefined;
  try {
    const path = realpathSync(resolve(folder, name));
    if (!path.startsWith(realpathSync(folder) + sep) || statSync(path).size > maxPictureBytes) return undefined;
    return readFileSync(path, "base64");
  } catch {
    return undefined; // the page says which picture is missing
  }
}
