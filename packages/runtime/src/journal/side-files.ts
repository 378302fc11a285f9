import { readFile, utimes } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { makeFolder } from "../util/make-folder.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { toSafeJson } from "../util/jsonl.ts";
import { replaceFile } from "../util/replace-file.ts";
import { dehydrate, hydrate, type TextReference } from "./large-values.ts";
import { codeOf, toStorageFailure } from "./storage-failure.ts";

/** A file that nobody names any more is collected only when nobody has touched it for this long. */
export const sideFileGraceMs: number = 60 * 60 * 1000;
/** How long a writer may rely on a file it has touched. Much less than the grace, so that what it relies on is never collected. */
const touchMs = sideFileGraceMs / 6;

export const sideFolder = "blobs";

function sideFilePath(directory: string, sha256: string): string {
  return join(directory, sideFolder, sha256.slice(0, 2), sha256);
}

/** Long texts of a folder's sessions, each in a file named after its content, so that the same text is kept once. */
export class SideFiles {
  readonly #directory: string;
  readonly #sync: boolean;
  readonly #touched = new Map<string, number>();

  constructor(directory: string, options: { sync: boolean }) {
    this.#directory = directory;
    this.#sync = options.sync;
  }

  /** Stores what is too long in an event; answers the event's JSON with references in its place. */
  async dehydrate(json: string): Promise<string> {
    const texts = new Map<string, Buffer>();
    const value = dehydrate(JSON.parse(json), (text) => {
      // Half of a surrogate pair has no UTF-8; JSON can escape it, so such a text stays where it is.
      if (!text.isWellFormed()) return undefined;
      const bytes = Buffer.from(text);
      const sha256 = digest(bytes);
      texts.set(sha256, bytes);
      return { sha256, bytes: bytes.length };
    });
    for (const [sha256, bytes] of texts) await this.#keep(sha256, bytes);
    return toSafeJson(value);
  }

  async #keep(sha256: string, bytes: Buffer): Promise<void> {
    const path = sideFilePath(this.#directory, sha256);
    const touchedAt = this.#touched.get(sha256) ?? 0;
    if (Date.now() - touchedAt < touchMs) return;
    try {
      if (!(await reuse(path, sha256))) await writeAtOnce(path, bytes, this.#sync);
    } catch (error) {
      throw toStorageFailure("write", path, error);
    }
    this.#touched.set(sha256, Date.now());
  }
}

/** Touched first: from then on it is not collected, and if it was collected a moment before, it is seen to be missing. */
async function reuse(path: string, sha256: string): Promise<boolean> {
  const now = new Date();
  try {
    await utimes(path, now, now);
    return digest(await readFile(path)) === sha256;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function writeAtOnce(path: string, bytes: Buffer, isLasting: boolean): Promise<void> {
  makeFolder(dirname(path));
  await replaceFile(path, bytes, { isLasting });
}

/** With their long texts put back. A text that is missing or damaged becomes a sentence that says so, here and in the warnings. */
export async function hydrateEvents(
  directory: string,
  events: readonly AgentEvent[],
): Promise<{ events: AgentEvent[]; warnings: string[] }> {
  const warnings: string[] = [];
  const texts = new Map<string, string>();
  const whole: AgentEvent[] = [];
  for (const event of events) {
    const needed: TextReference[] = [];
    hydrate(event, (reference) => {
      needed.push(reference);
      return "";
    });
    for (const { sha256, bytes } of needed) {
      if (texts.has(sha256)) continue;
      const read = await readText(sideFilePath(directory, sha256), sha256);
      if (read.problem !== undefined) warnings.push(`A text of ${bytes} bytes could not be put back: ${read.problem}`);
      texts.set(sha256, read.text ?? `[This text of ${bytes} bytes could not be put back: ${read.problem}]`);
    }
    whole.push(hydrate(event, ({ sha256 }) => texts.get(sha256) ?? "") as AgentEvent); // only strings have changed
  }
  return { events: whole, warnings };
}

type ReadText = { text: string; problem?: undefined } | { text?: undefined; problem: string };

async function readText(path: string, sha256: string): Promise<ReadText> {
  const shown = relative(dirname(dirname(dirname(path))), path);
  try {
    const bytes = await readFile(path);
    return digest(bytes) === sha256 ? { text: bytes.toString("utf8") } : { problem: `${shown} is damaged` };
  } catch (error) {
    return {
      problem: `${shown} is ${codeOf(error) === "ENOENT" ? "missing" : `unreadable (${codeOf(error) ?? String(error)})`}`,
    };
  }
}

function digest(bytes: Buffer): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(bytes).digest("hex");
}
