import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { replaceFileSync } from "../util/replace-file.ts";
import { listSessions } from "./maintain-store.ts";
import { emptyChain, type LogPosition } from "./recover.ts";
import type { SummariesOptions } from "./store.ts";
import type { StorePlace } from "./store-place.ts";
import { crc32 } from "../util/crc32.ts";

/** What a log was like when it was read last, and what was made of it. */
type Entry<Draft> = LogPosition & { size: number; modifiedAt: number; summary: Draft };
type Entries<Draft> = Record<string, Entry<Draft>>;
/** `sessions` is the JSON of the entries, and `crc` its checksum: a cache that was written by halves, or by hand, is no cache. */
type Index = { version: 1; crc: number; sessions: string };

/** Where a log is to be read on, and what is known of it so far: nothing when it is read from its beginning. */
export type LogReading<Draft> = { id: string; path: string; from: LogPosition; draft: Draft | undefined };

export type LogDigest<Draft> = {
  /** The file beside the logs that keeps what was read. */
  readonly name: string;
  /** Undefined for a log that holds no event. */
  read(reading: LogReading<Draft>): Promise<(LogPosition & { summary: Draft }) | undefined>;
};

/**
 * Makes something of every log. The logs are the truth: the index only says how far each was read, so that a second look
 * costs what was added since. It may be old, broken or missing; writers never touch it.
 * One log that cannot be read (of a newer format, of another user) hides none of the others.
 */
export async function digestLogs<Draft>(
  place: StorePlace,
  { name, read }: LogDigest<Draft>,
  { onSkipped }: SummariesOptions = {},
): Promise<[id: string, entry: Entry<Draft>][]> {
  const path = join(place.directory, name);
  const known = readIndex<Draft>(path);
  const sessions: Entries<Draft> = {};
  for (const id of listSessions(place)) {
    try {
      const entry = await digestLog({ id, path: place.logPath(id), known: known[id], read });
      if (entry) sessions[id] = entry;
      else if (existsSync(place.logPath(id))) throw nothingReadable(id);
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      onSkipped?.(id, error);
    }
  }
  const json = JSON.stringify(sessions);
  if (json !== JSON.stringify(known)) writeIndex(path, { version: 1, crc: crc32(json), sessions: json });
  return Object.entries(sessions);
}

function nothingReadable(id: string): RuntimeError {
  return new RuntimeError("storage-failed", `The journal of ${id} holds nothing that can be read`, {
    hint: "It is damaged from its first line on, or no journal at all",
  });
}

type Digesting<Draft> = { id: string; path: string; known: Entry<Draft> | undefined; read: LogDigest<Draft>["read"] };

/** Undefined for a log that holds no event, or that is gone by now. */
async function digestLog<Draft>({ id, path, known, read }: Digesting<Draft>): Promise<Entry<Draft> | undefined> {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  const facts = { size: stat.size, modifiedAt: stat.mtimeMs };
  if (known && known.size === facts.size && known.modifiedAt === facts.modifiedAt) return known;
  // Only a checksum proves that what follows belongs to what was read before.
  if (known?.chain.sealed && known.offset < facts.size) {
    const grown = await read({ id, path, from: known, draft: structuredClone(known.summary) });
    if (grown && grown.offset > known.offset) return { ...grown, ...facts };
  }
  const whole = await read({ id, path, from: { offset: 0, chain: emptyChain }, draft: undefined });
  return whole && { ...whole, ...facts };
}

function readIndex<Draft>(path: string): Entries<Draft> {
  try {
    const { version, crc, sessions } = JSON.parse(readFileSync(path, "utf8")) as Index; // what is none is found out here
    return version === 1 && crc === crc32(sessions) ? (JSON.parse(sessions) as Entries<Draft>) : {};
  } catch {
    return {};
  }
}

/** The last writer wins: each of them wrote the truth. A folder that cannot be written to is listed all the same. */
function writeIndex(path: string, index: Index): void {
  try {
    replaceFileSync(path, JSON.stringify(index));
  } catch {
    // The next one reads the logs again.
  }
}
