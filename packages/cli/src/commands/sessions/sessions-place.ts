import { RuntimeError, type SessionStore } from "@outrider/runtime";
import type { SessionSummary } from "@outrider/runtime/admin";
import type { LineOutput } from "@outrider/runtime/host";
import { findSession } from "../../request/find-session.ts";

/** Where the user's sessions are, and where the command writes what it has to say. */
export type SessionsPlace = {
  readonly home: string;
  readonly directory: string;
  readonly store: SessionStore;
  readonly output: LineOutput;
};

/** A session by id or name; without a summary, and with the reason, when nothing of its journal can be read. */
export type FoundSession = { id: string; summary: SessionSummary | undefined; problem: RuntimeError | undefined };

export async function findStored(store: SessionStore, word: string): Promise<FoundSession> {
  const id = await findSession(store, word);
  let problem: RuntimeError | undefined;
  const summaries = await store.summaries({
    onSkipped: (skipped, reason) => {
      if (skipped === id) problem = reason;
    },
  });
  return { id, summary: summaries.find((one) => one.id === id), problem };
}

/** The same for those who want to read it. */
export async function findSummary(store: SessionStore, word: string): Promise<SessionSummary> {
  const { id, summary, problem } = await findStored(store, word);
  if (summary) return summary;
  throw problem ?? new RuntimeError("not-found", `Session ${id} is gone`);
}
