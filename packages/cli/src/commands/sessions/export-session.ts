import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type AgentEvent, RuntimeError, toMessages } from "@outrider/runtime";
import { readJournalFile, type SessionSummary } from "@outrider/runtime/admin";
import { type LineOutput, nearest } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { visible } from "../../terminal/visible.ts";
import type { OwnWords } from "../../flags/words.ts";
import { toMarkdown } from "./session-markdown.ts";
import { findSummary, type SessionsPlace } from "./sessions-place.ts";

type Session = { readonly summary: SessionSummary; readonly events: readonly AgentEvent[] };

/** Piece by piece: a session may be larger than what one string can hold. */
const formats: Readonly<Record<string, (session: Session) => Iterable<string>>> = {
  *jsonl({ events }) {
    // Many readers take these two characters for line ends.
    for (const event of events)
      yield `${JSON.stringify(event).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}\n`;
  },
  markdown: ({ summary, events }) => toMarkdown(summary, events),
  json: ({ summary, events }) => [`${JSON.stringify({ summary, messages: toMessages(events) }, null, 2)}\n`],
};

/** A session in a form to take elsewhere. Nothing is left out of it or made unreadable: what was said is in it, secrets too. */
export async function exportSession({ store, directory, output }: SessionsPlace, words: OwnWords): Promise<number> {
  const toPieces = chooseFormat(words.value("--format") ?? "jsonl");
  const summary = await findSummary(store, words.rest[0] ?? "");
  const path = words.value("--output") ?? words.value("-o");
  const { events, warnings } = await readJournalFile(join(directory, `${summary.id}.jsonl`));
  for (const warning of warnings) process.stderr.write(`outrider: ${visible(warning)}\n`);
  const pieces = toPieces({ summary, events });
  if (path === undefined || path === "-") return await writeOut(output, pieces);
  writeFile(path, pieces, words.has("--force"));
  process.stderr.write(`Written to ${visible(path)}\n`);
  return exitCodes.success;
}

function chooseFormat(name: string): (session: Session) => Iterable<string> {
  const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (format) return format;
  const names = Object.keys(formats);
  const guess = nearest(name, names);
  throw new RuntimeError(
    "usage",
    `--format cannot be ${JSON.stringify(name)}.${guess ? ` Did you mean ${guess}?` : ""} Choose from: ${names.join(", ")}`,
  );
}

async function writeOut(output: LineOutput, pieces: Iterable<string>): Promise<number> {
  for (const piece of pieces) {
    output.write(piece);
    if (output.full) await output.drain();
    if (output.closed) break;
  }
  await output.drain();
  return exitCodes.success;
}

/** For nobody but its owner, as the journal is. What could not be written whole is not left behind. */
function writeFile(path: string, pieces: Iterable<string>, force: boolean): void {
  let file: number | undefined;
  try {
    file = openSync(path, force ? "w" : "wx", 0o600);
    for (const piece of pieces) {
      const bytes = Buffer.from(piece);
      for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
    }
    closeSync(file);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST") throw new RuntimeError("usage", `${path} exists already`, { hint: "--force overwrites it" });
    if (file !== undefined) discard(file, force ? undefined : path);
    const reason = error instanceof Error ? error.message : String(error);
    throw new RuntimeError("storage-failed", `Cannot write ${path}: ${reason}`, {
      hint: "Choose another --output",
      cause: error,
    });
  }
}

function discard(file: number, path: string | undefined): void {
  try {
    closeSync(file);
    if (path !== undefined) unlinkSync(path);
  } catch {
    // What went wrong first is told.
  }
}
