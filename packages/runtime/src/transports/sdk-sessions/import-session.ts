import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { SessionStore } from "../../journal/store.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { readConversation, type StoredConversation } from "./conversation.ts";
import { type ImportPlace, toImportedEvents } from "./imported-events.ts";
import { createRedactor } from "../../util/redact.ts";
import { SessionEntries } from "./session-entries.ts";

export type TakenOver = {
  /** How many events are new in the journal. */
  readonly added: number;
  /** The title it was given there, if that is not known here. */
  readonly title?: string;
  /** Why what is in the file was not taken over. */
  readonly problem?: string;
};

/**
 * Takes over into the journal what a file in the layout of Claude Code tells and the journal does not: everything of a session that
 * was held or copied elsewhere, or how one of ours went on there. The file is only read.
 */
export async function importSession(store: SessionStore, { path, sessionId }: SessionFilePlace): Promise<TakenOver> {
  const conversation = readConversation(readFileSync(path, "utf8"));
  const events = await store.read(sessionId);
  const title = titleBeyond(conversation, events);
  const missing = stepsBeyond(conversation, events, sessionId);
  if (!missing) return { added: 0, ...title, problem: `${path} tells of another course than the journal, which is gone on with` };
  const place = { sessionId, after: events.at(-1)?.seq ?? 0, now: new Date().toISOString() };
  const fresh = toImportedEvents(missing, place);
  if (fresh.length > 0) await append(store, fresh, place);
  return { added: fresh.length, ...title };
}

async function append(store: SessionStore, fresh: readonly AgentEvent[], { sessionId, after }: ImportPlace): Promise<void> {
  const journal = await store.open(sessionId);
  try {
    if (journal.events.lastSeq !== after)
      throw new RuntimeError("busy", `Session ${sessionId} was written to meanwhile`, { retryable: true });
    await journal.append(createRedactor({ env: process.env }).value(fresh)); // nothing is stored with its secrets
  } finally {
    await journal.close();
  }
}

export type SessionFilePlace = { readonly path: string; readonly sessionId: string };

/** The file of a session by its id, else the latest one with this title, in whichever project. */
export function findSessionFile(configDirectory: string, word: string): SessionFilePlace | undefined {
  const folders = foldersIn(join(configDirectory, "projects"));
  if (/^[\w-]+$/.test(word)) {
    const path = folders.map((folder) => join(folder, `${word}.jsonl`)).find((file) => existsSync(file));
    if (path !== undefined) return { path, sessionId: word };
  }
  const titled = folders.flatMap(sessionFilesIn).filter((path) => lastTitleIn(path) === word);
  const [latest] = titled.map((path) => ({ path, at: statSync(path).mtimeMs })).sort((a, b) => b.at - a.at);
  return latest && { path: latest.path, sessionId: basename(latest.path, ".jsonl") };
}

/** What of the conversation comes after the journal's last message; undefined when it does not go on from there. */
function stepsBeyond(
  { steps, chain }: StoredConversation,
  events: readonly AgentEvent[],
  sessionId: string,
): StoredConversation["steps"] | undefined {
  const entries = new SessionEntries({ sessionId, entrypoint: "" });
  const known = events.flatMap((event) => entries.of(event)).filter(({ agentId, uuid }) => agentId === undefined && uuid);
  if (known.length === 0) return steps;
  const names = new Set(known.map(({ uuid }) => uuid));
  if (names.has(chain.at(-1)) || chain.length === 0) return []; // the journal is as far, or further
  if (!chain.includes(known.at(-1)?.uuid ?? "")) return undefined;
  return steps.filter((step) => (step.type === "answer" ? step.lines : [step.line]).every(({ uuid }) => !names.has(uuid)));
}

/** A title the journal has had before is older than what it says now. */
function titleBeyond({ titles }: StoredConversation, events: readonly AgentEvent[]): { title?: string } {
  const title = titles.at(-1);
  const isKnown = events.some((event) => event.type === "session.named" && event.name === title);
  return title === undefined || isKnown ? {} : { title };
}

function foldersIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [join(path, entry.name)] : []));
  } catch {
    return [];
  }
}

function sessionFilesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => (name.endsWith(".jsonl") ? [join(folder, name)] : []));
}

/** Writers of such files repeat the title near the end, so the rest, which may be gigabytes, is not read. */
function lastTitleIn(path: string): string | undefined {
  const text = endOf(path, 64 * 1024);
  return text.includes('"custom-title"') ? readConversation(text).titles.at(-1) : undefined;
}

function endOf(path: string, maxBytes: number): string {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    const length = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8", 0, length);
  } finally {
    closeSync(file);
  }
}
