import { createReadStream, createWriteStream } from "node:fs";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import type { AgentEvent } from "../protocol/events.ts";
import { describeTail, type Recovered, recover } from "./recover.ts";
import { hydrateEvents } from "./side-files.ts";
import { toStorageFailure } from "./storage-failure.ts";
import type { StorePlace } from "./store-place.ts";

/** What can be read of a log without touching it. */
export async function readEvents(directory: string, path: string, after: number): Promise<AgentEvent[]> {
  const { events, referring } = await recover(path);
  const first = after === 0 ? 0 : events.findIndex((event) => event.seq > after);
  if (first === -1) return [];
  await hydrateEvents(
    directory,
    events,
    referring.filter((index) => index >= first),
  );
  return first === 0 ? events : events.slice(first);
}

/** The events of a log file wherever it is, with its side files beside it; and what was wrong with it. Nothing is changed. */
export async function readJournalFile(path: string): Promise<{ events: AgentEvent[]; warnings: string[] }> {
  const { events, referring, warnings, tail } = await recover(path);
  const missing = await hydrateEvents(dirname(path), events, referring);
  return { events, warnings: [...warnings, ...describeTail(tail, undefined), ...missing] };
}

/** What can be read, ready to be gone on with. Nothing is destroyed: damaged lines are copied beside the log before they are cut off. */
export async function mendLog(place: StorePlace, path: string): Promise<Omit<Recovered, "tail" | "referring">> {
  const { tail, referring, ...log } = await recover(path);
  const keptIn = tail.type === "damaged" ? await keepTail(path, log.validBytes, place.now()) : undefined;
  const missing = await hydrateEvents(place.directory, log.events, referring);
  return { ...log, warnings: [...log.warnings, ...describeTail(tail, keptIn), ...missing] };
}

async function keepTail(path: string, start: number, now: number): Promise<string> {
  const copy = `${path}.damaged-${new Date(now).toISOString().replaceAll(":", "-")}`;
  try {
    await pipeline(createReadStream(path, { start }), createWriteStream(copy, { mode: 0o600, flush: true }));
    return copy;
  } catch (error) {
    throw toStorageFailure("copy the damaged end of the journal to", copy, error);
  }
}
