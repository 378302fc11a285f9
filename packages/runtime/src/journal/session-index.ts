import type { AgentEvent } from "../protocol/events.ts";
import { mentionsReferences } from "./large-values.ts";
import { digestLogs, type LogReading } from "./log-index.ts";
import { type LogPosition, scanLog } from "./recover.ts";
import { timeOf, toEvent } from "./sealed-line.ts";
import { hydrateEvents } from "./side-files.ts";
import type { SessionSummary, SummariesOptions } from "./store.ts";
import type { StorePlace } from "./store-place.ts";
import { addToSummary, type SummaryDraft, telling, touchSummary } from "./summary.ts";

const indexName = "index.json";

/** Summaries of all sessions, the latest first. */
export async function listSummaries(place: StorePlace, options: SummariesOptions = {}): Promise<SessionSummary[]> {
  const read = (reading: LogReading<SummaryDraft>): ReturnType<typeof readOn> => readOn(place, reading);
  const digests = await digestLogs(place, { name: indexName, read }, options);
  return digests
    .map(([, { summary, size }]) => ({ ...summary, bytes: size }))
    .sort((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1));
}

async function readOn(
  place: StorePlace,
  { id, path, from, draft }: LogReading<SummaryDraft>,
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
