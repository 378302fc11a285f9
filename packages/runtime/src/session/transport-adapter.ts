import type { InteractiveSession } from "./interactive-session.ts";

/** Something that serves a session to the outside: it encodes its events and decodes requests to it. */
export interface TransportAdapter {
  readonly name: string;
  attach(session: InteractiveSession<unknown>): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}
