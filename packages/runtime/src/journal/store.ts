import type { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent, EventType } from "../protocol/events.ts";
import type { ConversationType } from "./conversation-types.ts";
import type { TranscriptState } from "./transcript.ts";

/** Append-only logs, one per session. */
export interface SessionStore {
  /**
   * Takes the session for writing; answers what it holds, oldest first, and how to append.
   * Rejects with `session-locked` while another writer has it. A session that does not exist yet is empty.
   * A damaged log opens at its longest valid prefix; `warnings` says what was left out.
   */
  open(sessionId: string): Promise<JournalWriter>;
  /** Reads without taking; empty for an unknown session. */
  read(sessionId: string, options?: ReadOptions): Promise<AgentEvent[]>;
  /** Whether there is something under this id; false for what could be none. */
  has(sessionId: string): Promise<boolean>;
  list(): Promise<string[]>;
  /** What a person needs to find a session again, the latest first. A session that cannot be read is left out, and told to `onSkipped`. */
  summaries(options?: SummariesOptions): Promise<SessionSummary[]>;
  /**
   * A new session that begins like another one, up to and with the event `at` (all of it when absent; a number after
   * the last one is refused with `not-found`). The source is only read, also while
   * it runs. Copied events carry the new id and their old numbers; the first `session.started` says where they come from (`forkedFrom`).
   * `isOpenedNext`: the same store opens the copy at once. Then nobody waits here for the disk: the copy survives what the first events
   * that are appended to it survive.
   */
  fork(sourceId: string, newId: string, options?: { at?: number; isOpenedNext?: boolean }): Promise<void>;
  /** Appends `session.named`. Rejects with `not-found` for an unknown session, as `fork` and `remove` do. */
  rename(sessionId: string, name: string): Promise<void>;
  /** Rejects with `session-locked` while somebody writes to it. */
  remove(sessionId: string): Promise<void>;
}

/**
 * What a journal held when it was opened, oldest first. A store may parse events as they are asked for: to go on with a long session, few of
 * them are needed. `toStoredEvents` makes it of a list.
 */
export interface StoredEvents extends Iterable<AgentEvent> {
  readonly length: number;
  /** 0 when there is none. */
  readonly lastSeq: number;
  /** Those of these types, oldest first. */
  of<T extends EventType>(...types: readonly T[]): Iterable<AgentEvent<T>>;
  /** Those of them that come behind the event with this number. */
  ofAfter<T extends EventType>(seq: number, ...types: readonly T[]): Iterable<AgentEvent<T>>;
  /**
   * What the session's own conversation is made of, of the events at the place `from` and later. The start of a call is left out where its
   * end is there: that tells more.
   */
  conversation(from?: number): Iterable<AgentEvent<ConversationType>>;
  /** The conversation as it stood after the first events, where the store has kept that. */
  kept?(): KeptConversation | undefined;
  /** The latest of this type that is `wanted`. */
  last<T extends EventType>(type: T, wanted?: (event: AgentEvent<T>) => boolean): AgentEvent<T> | undefined;
}

/** What `conversation()` tells of the first `count` events, put together. */
export type KeptConversation = {
  readonly count: number;
  readonly transcript: TranscriptState;
  readonly turnIds: readonly string[];
  readonly compactions: readonly AgentEvent<"compaction.ended">[];
};

export interface JournalWriter {
  readonly events: StoredEvents;
  /** What was wrong with the stored log and how it was mended, in a sentence each. */
  readonly warnings: readonly string[];
  /** Where a person can look at it, if anywhere. */
  readonly location: string | undefined;
  /**
   * Resolves when the events would survive this process being killed; what they survive beyond that is the store's promise.
   * Events of one call are kept together and in order, and so are calls.
   */
  append(events: readonly AgentEvent[]): Promise<void>;
  close(): Promise<void>;
}

export type ReadOptions = {
  /** Only events with a higher number. */
  readonly after?: number;
  /** Only events of these types: in a long log they are found without a look at the others. */
  readonly types?: readonly EventType[];
};

export type SummariesOptions = { readonly onSkipped?: (sessionId: string, reason: RuntimeError) => void };

export type SessionSummary = {
  id: string;
  /** The last one it was given. */
  name?: string;
  cwd: string;
  createdAt: string;
  updatedAt: string;
  /** The first prompt on one line, shortened. */
  prompt: string;
  turns: number;
  /** Of the log; side files are not counted. */
  bytes: number;
  /** Why it ended, unless it is open or was cut off. */
  ended?: string;
  forkedFrom?: ForkOrigin;
};

/** `seq` is the last event that was copied: everything up to it was paid for in the other session. */
export type ForkOrigin = { sessionId: string; seq: number };
