import { createReadStream, createWriteStream } from "node:fs";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import type { AgentEvent } from "../protocol/events.ts";
import { createStoredEvents } from "./stored-events.ts";
import { describeTail, type Recovered, recover } from "./recover.ts";
import type { LineTable } from "./line-table.ts";
import { toEvent } from "./sealed-line.ts";
import { hydrateEvents } from "./side-files.ts";
import { toStorageFailure } from "./storage-failure.ts";
import type { StoredEvents } from "./store.ts";
import type { StorePlace } from "./store-place.ts";

export type MendedLog = Omit<Recovered, "lines" | "tail"> & { events: StoredEvents };

/** What can be read of a log without touching it. */
export async function readEvents(directory: string, path: string, after: number): Promise<AgentEvent[]> {
  const { lines } = await recover(path);
  await openStored(directory, lines);
  const all = Array.from({ length: lines.length }, (_, index) => index);
  const first = after === 0 ? 0 : all.findIndex((index) => lines.seqAt(index) > after);
  return first === -1 ? [] : [...lines.look(all.slice(first))];
}

/** The events of a log file wherever it is, with its side files beside it; and what was wrong with it. Nothing is changed. */
export async function readJournalFile(path: string): Promise<{ events: AgentEvent[]; warnings: string[] }> {
  const { warnings, tail, lines } = await recover(path);
  const { stored, missing } = await openStored(dirname(path), lines);
  return { events: [...stored], warnings: [...warnings, ...describeTail(tail, undefined), ...missing] };
}

/** What can be read, ready to be gone on with. Nothing is destroyed: damaged lines are copied beside the log before they are cut off. */
export async function mendLog(place: StorePlace, path: string): Promise<MendedLog> {
  const { tail, lines, ...log } = await recover(path);
  const keptIn = tail.type === "damaged" ? await keepTail(path, log.validBytes, place.now()) : undefined;
  const { stored, missing } = await openStored(place.directory, lines);
  return { ...log, events: stored, warnings: [...log.warnings, ...describeTail(tail, keptIn), ...missing] };
}

/** Events with long texts are put together at once: to get those takes a disk, which whoever looks later must not wait for. */
async function openStored(directory: string, lines: LineTable): Promise<{ stored: StoredEvents; missing: string[] }> {
  const referring = lines.referring();
  const shortened = referring.flatMap((index) => lines.lineAt(index) ?? []).map(toEvent);
  const { events, warnings } = await hydrateEvents(directory, shortened);
  for (const [place, event] of events.entries()) lines.putWhole(referring[place] ?? -1, event);
  return { stored: createStoredEvents(lines), missing: warnings };
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
