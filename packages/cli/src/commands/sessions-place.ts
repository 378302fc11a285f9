import { RuntimeError, type SessionStore } from "@outrider/runtime";
import type { SessionSummary } from "@outrider/runtime/admin";
import type { LineOutput } from "@outrider/runtime/host";
import { findSession } from "../find-session.ts";

/** Where the user's sessions are, and where the command writes what it has to say. */
export type SessionsPlace = {
  readonly home: string;
  readonly directory: string;
  readonly store: SessionStore;
  readonly output: LineOutput;
};

/** A session by id or name; without a summary when nothing of its journal can be read. */
export async function findStored(
  store: SessionStore,
  word: string,
): Promise<{ id: string; summary: SessionSummary | undefined }> {
  const id = await findSession(store, word);
  return { id, summary: (await store.summaries()).find((one) => one.id === id) };
}

/** The same for those who want to read it. */
export async function findSummary(store: SessionStore, word: string): Promise<SessionSummary> {
  const { id, summary } = await findStored(store, word);
  if (summary) return summary;
  throw new RuntimeError("not-found", `The journal of session ${id} holds nothing that can be read`, {
    hint: "It is damaged from its first line on",
  });
}
