/** A request on its way. */
export type Sending = {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Do not use a connection that was used before. */
  readonly fresh: boolean;
  readonly connectMs: number;
};

/** What is heard of a request while it travels. */
export type Hearing = {
  connected(): void;
  answered(answer: Answer): void;
  failed(error: unknown): void;
  /** No connection came about in time. */
  unreachable(): void;
  /** The server had closed the kept connection in the meantime, and the request never reached it. */
  stale(): void;
};

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: AsyncIterator<Uint8Array>;
  /** Lets the rest that nobody reads run out, so that its connection serves the next request; nobody waits for it. */
  drain(): void;
};

/** Sends a request. What is returned ends it, and the answer too. */
export type Send = (sending: Sending, hear: Hearing) => { destroy(): void };

/** How long the rest of an answer that nobody reads may take before its connection is given up. */
export const drainMs: number = 1_000;
