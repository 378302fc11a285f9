import { createReadStream, createWriteStream } from "node:fs";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import type { AgentEvent } from "../protocol/events.ts";
import { createStoredEvents } from "./stored-events.ts";
import { RecentLog } from "./recent-log.ts";
import { describeTail, type Recovered, recover } from "./recover.ts";
import type { LineTable } from "./line-table.ts";
import { shortenStart } from "./repeated-starts.ts";
import { toEvent } from "./sealed-line.ts";
import { hydrateEvents } from "./side-files.ts";
import { toStorageFailure } from "./storage-failure.ts";
import type { ReadOptions, StoredEvents } from "./store.ts";
import type { StorePlace } from "./store-place.ts";

export { RecentLog };

export type MendedLog = Omit<Recovered, "lines" | "tail"> & {
  events: StoredEvents;
  /** An event as it is stored behind these. */
  shorten(event: AgentEvent): AgentEvent;
};

/** What can be read of a log without touching it. */
export async function readEvents(place: StorePlace, path: string, { after = 0, types }: ReadOptions): Promise<AgentEvent[]> {
  const { lines } = await (await place.recentLog()).recover(path);
  const wanted = types && new Set<string>(types);
  const indexes: number[] = [];
  for (let index = after === 0 ? 0 : lines.countUpTo(after); index < lines.length; index++)
    if (!wanted || wanted.has(lines.typeAt(index))) indexes.push(index);
  await putLongTexts(place.directory, lines, new Set(indexes));
  return [...lines.look(indexes)];
}

/** The events of a log file wherever it is, with its side files beside it; and what was wrong with it. Nothing is changed. */
export async function readJournalFile(path: string): Promise<{ events: AgentEvent[]; warnings: string[] }> {
  const { warnings, tail, lines } = await recover(path);
  const { stored, missing } = await openStored(dirname(path), lines);
  return { events: [...stored], warnings: [...warnings, ...describeTail(tail, undefined), ...missing] };
}

/** What can be read, ready to be gone on with. Nothing is destroyed: damaged lines are copied beside the log before they are cut off. */
export async function mendLog(place: StorePlace, path: string): Promise<MendedLog> {
  const { tail, lines, ...log } = await (await place.recentLog()).recover(path);
  const keptIn = tail.type === "damaged" ? await keepTail(path, log.validBytes, place.now()) : undefined;
  const { stored, missing } = await openStored(place.directory, lines);
  const known = lines.lastStart();
  const shorten = (event: AgentEvent): AgentEvent => shortenStart(event, known) as AgentEvent; // for the log alone, which restores it
  return { ...log, events: stored, shorten, warnings: [...log.warnings, ...describeTail(tail, keptIn), ...missing] };
}

/** Events with long texts are put together at once: to get those takes a disk, which whoever looks later must not wait for. */
async function openStored(directory: string, lines: LineTable): Promise<{ stored: StoredEvents; missing: string[] }> {
  const missing = await putLongTexts(directory, lines);
  return { stored: createStoredEvents(lines), missing };
}

/** In all lines, or in some. Answers which texts are missing, in a sentence each. */
async function putLongTexts(directory: string, lines: LineTable, some?: ReadonlySet<number>): Promise<string[]> {
  const referring = lines.referring().filter((index) => !some || some.has(index));
  const shortened = referring.flatMap((index) => {
    const line = lines.lineAt(index);
    return line ? [toEvent(line)] : []; // at once: its bytes are good until the next one is read
  });
  const { events, warnings } = await hydrateEvents(directory, shortened);
  for (const [place, event] of events.entries()) lines.putWhole(referring[place] ?? -1, event);
  return warnings;
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
