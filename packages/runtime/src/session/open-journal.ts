import { createMemoryStore } from "../journal/memory-store.ts";
import type { JournalWriter, StoredEvents } from "../journal/store.ts";
import { toStorageFailure } from "../journal/storage-failure.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { SessionOptions } from "./session-options.ts";

/**
 * The journal of this session, new or resumed as the options say; rejects when they are about another one. A turn that was cut off gets its end
 * first, as a part of the past: whoever reads on hears of it, and nobody takes it for the end of a new turn.
 */
export async function openJournal(options: SessionOptions, id: string): Promise<JournalWriter> {
  const store = options.sessionStore ?? createMemoryStore();
  const journal = await store.open(id).catch((error: unknown) => {
    throw toStorageFailure("open", `the journal of session ${id}`, error);
  });
  try {
    const problem = misfit(options, id, journal);
    if (problem) throw problem;
    if (journal.events.length === 0 || isComplete(journal.events)) return journal;
    const { endOfCutTurn } = await import("./cut-turn.ts");
    const end = endOfCutTurn(journal.events, new Date().toISOString());
    if (!end) return journal;
    await journal.append([end]);
  } catch (error) {
    await journal.close();
    throw error;
  }
  await journal.close();
  const again = await store.open(id);
  return {
    ...{ events: again.events, location: again.location, warnings: [...journal.warnings, ...again.warnings] },
    append: (events) => again.append(events),
    close: () => again.close(),
  };
}

/** A session that ended in its own way has no open turn; most did. */
function isComplete(events: StoredEvents): boolean {
  return events.last("session.ended")?.seq === events.lastSeq;
}

/** Why the options are not about this journal, if they are not. */
function misfit(
  { resumeSessionId, resumeAt }: SessionOptions,
  id: string,
  { events, warnings }: JournalWriter,
): RuntimeError | undefined {
  const exists = events.length > 0;
  if (resumeSessionId === undefined && exists)
    return new RuntimeError("usage", `Session ${id} exists already`, { hint: "Choose another session id, or resume this one" });
  if (resumeSessionId === undefined && resumeAt !== undefined)
    return new RuntimeError("usage", "Only a session that is resumed can go back to one of its events");
  if (resumeSessionId !== undefined && !exists)
    return warnings.length === 0
      ? new RuntimeError("not-found", `There is no session ${id}`)
      : new RuntimeError("storage-failed", `Nothing of session ${id} can be read. ${warnings.join(". ")}`);
  if (resumeAt !== undefined && !(resumeAt >= 1 && resumeAt <= events.lastSeq))
    return new RuntimeError("not-found", `Session ${id} has no event ${resumeAt}, only those up to ${events.lastSeq}`);
  return undefined;
}
