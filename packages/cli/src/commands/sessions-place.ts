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

/** A session by id or name, with what is known about it. */
export async function findSummary(store: SessionStore, word: string): Promise<SessionSummary> {
  const id = await findSession(store, word);
  const summary = (await store.summaries()).find((one) => one.id === id);
  if (summary) return summary;
  throw new RuntimeError("not-found", `The journal of session ${id} holds nothing that can be read`, {
    hint: "It is damaged from its first line on",
  });
}
