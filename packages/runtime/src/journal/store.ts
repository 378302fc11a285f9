import type { AgentEvent } from "../protocol/events.ts";

/** Append-only logs, one per session. */
export interface SessionStore {
  /**
   * Takes the session for writing; answers what it holds, oldest first, and how to append.
   * Rejects with `session-locked` while another writer has it. A session that does not exist yet is empty.
   */
  open(sessionId: string): Promise<JournalWriter>;
  /** Reads without taking; empty for an unknown session. */
  read(sessionId: string, options?: { after?: number }): Promise<AgentEvent[]>;
  list(): Promise<string[]>;
}

export interface JournalWriter {
  readonly events: readonly AgentEvent[];
  /** What was wrong with the stored log and how it was mended, in a sentence each. */
  readonly warnings: readonly string[];
  /** Where a person can look at it, if anywhere. */
  readonly location: string | undefined;
  /** Resolves when the events would survive this process being killed. Events of one call are kept together and in order. */
  append(events: readonly AgentEvent[]): Promise<void>;
  close(): Promise<void>;
}
