import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { replaceFileSync } from "../util/replace-file.ts";
import { listSessions } from "./maintain-store.ts";
import { mentionsReferences } from "./large-values.ts";
import { emptyChain, type LogPosition, scanLog } from "./recover.ts";
import { timeOf, toEvent } from "./sealed-line.ts";
import { hydrateEvents } from "./side-files.ts";
import type { SessionSummary, SummariesOptions } from "./store.ts";
import type { StorePlace } from "./store-place.ts";
import { addToSummary, type SummaryDraft, telling, touchSummary } from "./summary.ts";

/** What a log was like when it was read last. */
type Entry = LogPosition & { size: number; modifiedAt: number; summary: SummaryDraft };
type Entries = Record<string, Entry>;
/** `sessions` is the JSON of the entries, and `crc` its checksum: a cache that was written by halves, or by hand, is no cache. */
type Index = { version: 1; crc: number; sessions: string };

const indexName = "index.json";

/**
 * Summaries of all sessions, the latest first. The logs are the truth: the index only says how far each was read, so that a second look
 * costs what was added since. It may be old, broken or missing; writers never touch it.
 * One log that cannot be read (of a newer format, of another user) hides none of the others.
 */
export async function listSummaries(place: StorePlace, { onSkipped }: SummariesOptions = {}): Promise<SessionSummary[]> {
  const path = join(place.directory, indexName);
  const known = readIndex(path);
  const sessions: Entries = {};
  for (const id of listSessions(place)) {
    try {
      const entry = await summarizeLog(place, id, known[id]);
      if (entry) sessions[id] = entry;
      else if (existsSync(place.logPath(id))) throw nothingReadable(id);
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      onSkipped?.(id, error);
    }
  }
  const json = JSON.stringify(sessions);
  if (json !== JSON.stringify(known)) writeIndex(path, { version: 1, crc: checksum(json), sessions: json });
  return Object.values(sessions)
    .map(({ summary, size }) => ({ ...summary, bytes: size }))
    .sort((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1));
}

function nothingReadable(id: string): RuntimeError {
  return new RuntimeError("storage-failed", `The journal of ${id} holds nothing that can be read`, {
    hint: "It is damaged from its first line on, or no journal at all",
  });
}

/** Undefined for a log that holds no event, or that is gone by now. */
async function summarizeLog(place: StorePlace, id: string, known: Entry | undefined): Promise<Entry | undefined> {
  const path = place.logPath(id);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  const facts = { size: stat.size, modifiedAt: stat.mtimeMs };
  if (known && known.size === facts.size && known.modifiedAt === facts.modifiedAt) return known;
  // Only a checksum proves that what follows belongs to what was read before.
  if (known?.chain.sealed && known.offset < facts.size) {
    const grown = await readOn(place, { id, path, from: known, draft: structuredClone(known.summary) });
    if (grown && grown.offset > known.offset) return { ...grown, ...facts };
  }
  const whole = await readOn(place, { id, path, from: { offset: 0, chain: emptyChain }, draft: undefined });
  return whole && { ...whole, ...facts };
}

type Reading = { id: string; path: string; from: LogPosition; draft: SummaryDraft | undefined };

async function readOn(
  place: StorePlace,
  { id, path, from, draft }: Reading,
): Promise<(LogPosition & { summary: SummaryDraft }) | undefined> {
  let summary = draft;
  let longPrompt: AgentEvent | undefined;
  const { chain, validBytes } = await scanLog(path, from, (line) => {
    const event = telling.has(line.type) ? toEvent(line) : undefined;
    if (!event) {
      summary = touchSummary(summary, id, timeOf(line));
      return;
    }
    if (event.type === "turn.started" && summary?.turns === 0 && mentionsReferences(line.bytes.subarray(line.start, line.end)))
      longPrompt = event;
    summary = addToSummary(summary, id, event);
  });
  if (!summary) return undefined;
  if (longPrompt) summary.prompt = await promptOf(place, longPrompt);
  return { summary, chain, offset: validBytes };
}

async function promptOf(place: StorePlace, event: AgentEvent): Promise<string> {
  const { events } = await hydrateEvents(place.directory, [event]);
  return events.reduce<SummaryDraft | undefined>((draft, whole) => addToSummary(draft, "", whole), undefined)?.prompt ?? "";
}

function readIndex(path: string): Entries {
  try {
    const { version, crc, sessions } = JSON.parse(readFileSync(path, "utf8")) as Index; // what is none is found out here
    return version === 1 && crc === checksum(sessions) ? (JSON.parse(sessions) as Entries) : {};
  } catch {
    return {};
  }
}

function checksum(text: string): number {
  return process.getBuiltinModule("node:zlib").crc32(text);
}

/** The last writer wins: each of them wrote the truth. A folder that cannot be written to is listed all the same. */
function writeIndex(path: string, index: Index): void {
  try {
    replaceFileSync(path, JSON.stringify(index));
  } catch {
    // The next one reads the logs again.
  }
}
