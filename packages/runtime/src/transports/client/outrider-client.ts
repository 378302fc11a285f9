import type { Message, UserMessage } from "../../protocol/content.ts";
import type { ErrorData } from "../../protocol/errors.ts";
import type { AgentEvent, PromptMode } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { SessionWish } from "../http/session-wish.ts";
import { readFrames } from "./read-frames.ts";
import type { RemoteSession, RemoteSummary, ServerFrame } from "./remote-types.ts";

export type OutriderClientOptions = {
  /** `http://127.0.0.1:4711` */
  readonly url: string;
  readonly token: string;
  /** The platform's own when absent. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Between two tries of `watch` to come back; doubled up to 30 times this. Half a second when absent. */
  readonly retryMs?: number | undefined;
};

/** What the server answered instead of what was asked for. */
export class OutriderError extends Error {
  override readonly name = "OutriderError";
  readonly status: number;
  readonly code: string;
  readonly retryable: boolean;
  readonly hint: string | undefined;

  constructor(
    status: number,
    { code, message, retryable, hint }: Pick<ErrorData, "message" | "retryable" | "hint"> & { code: string },
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryable = retryable;
    this.hint = hint;
  }
}

export type PromptInput = string | UserMessage["content"];
export type PromptOptions = {
  readonly mode?: PromptMode | undefined;
  /** The same key again is the same prompt: safe to send again after a lost connection. */
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};
export type AcceptedRemotely = {
  readonly promptId: string;
  readonly sessionId: string;
  readonly isRepeated: boolean;
  readonly storedSeq: number;
};
export type PromptResult = AcceptedRemotely & { readonly outcome: Outcome };

type PromptFrame =
  | ({ readonly type: "result" } & PromptResult)
  | { readonly type: "accepted" }
  | Extract<ServerFrame, { readonly type: "stream.ended" }>;

export type WatchOptions = {
  /** The last event that is known; from now on when absent. */
  readonly after?: number | undefined;
  /** `false`: only what is stored. */
  readonly deltas?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
};

type Asking = {
  readonly body?: unknown;
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

/** Sessions of `outrider serve`, from a browser or from Node. */
export class OutriderClient {
  readonly #options: OutriderClientOptions;

  constructor(options: OutriderClientOptions) {
    this.#options = options;
  }

  async createSession(wish: SessionWish = {}, { key }: { readonly key?: string | undefined } = {}): Promise<RemoteSession> {
    return await this.#json("POST", "/v1/sessions", { body: wish, key });
  }

  /** The latest first; `next` is what to give as `before` for more. */
  async listSessions(
    page: { readonly limit?: number; readonly before?: string } = {},
  ): Promise<{ sessions: RemoteSummary[]; next?: string }> {
    return await this.#json("GET", `/v1/sessions${toQuery(page)}`);
  }

  async getSession(id: string): Promise<RemoteSession> {
    return await this.#json("GET", path(id));
  }

  async renameSession(id: string, name: string): Promise<RemoteSession> {
    return await this.#json("PATCH", path(id), { body: { name } });
  }

  async deleteSession(id: string): Promise<void> {
    await this.#ask("DELETE", path(id));
  }

  async forkSession(id: string, { key, ...wish }: { at?: number; name?: string; key?: string } = {}): Promise<RemoteSession> {
    return await this.#json("POST", path(id, "fork"), { body: wish, key });
  }

  async messages(id: string): Promise<Message[]> {
    return (await this.#json<{ messages: Message[] }>("GET", path(id, "messages"))).messages;
  }

  /** A prompt to its end. */
  async prompt(id: string, input: PromptInput, { mode, key, signal }: PromptOptions = {}): Promise<PromptResult> {
    // As a stream, which is never silent for long: a turn of hours outlasts the patience of `fetch` and of proxies.
    const response = await this.#ask("POST", `${path(id, "messages")}?types=result`, {
      ...{ body: { ...toBody(input), mode }, key, signal },
      headers: { accept: "text/event-stream" },
    });
    for await (const { data } of readFrames(response)) {
      const frame = JSON.parse(data) as PromptFrame;
      if (frame.type === "result") {
        const { type: _, ...result } = frame;
        return result;
      }
      if (frame.type === "stream.ended") throw new OutriderError(503, frame.error);
    }
    throw new OutriderError(503, {
      code: "closed",
      message: "The connection ended before the turn did",
      retryable: true,
      hint: "The prompt goes on: sent again with the same key, it is answered with how it went",
    });
  }

  /** A prompt that is on record; its turn is told by events. */
  async send(id: string, input: PromptInput, { mode, key, signal }: PromptOptions = {}): Promise<AcceptedRemotely> {
    return await this.#json("POST", path(id, "messages"), { body: { ...toBody(input), mode, wait: false }, key, signal });
  }

  /** Words for the running turn. */
  async steer(id: string, text: string, { key }: { readonly key?: string | undefined } = {}): Promise<AcceptedRemotely> {
    return await this.#json("POST", path(id, "steer"), { body: { text }, key });
  }

  async cancel(id: string, { waiting }: { readonly waiting?: "keep" | "drop" | undefined } = {}): Promise<void> {
    await this.#ask("POST", path(id, "cancel"), { body: { waiting } });
  }

  async questions(id: string): Promise<AgentEvent<"permission.requested" | "interaction.requested">[]> {
    return (
      await this.#json<{ questions: AgentEvent<"permission.requested" | "interaction.requested">[] }>(
        "GET",
        path(id, "questions"),
      )
    ).questions;
  }

  async answerPermission(
    id: string,
    requestId: string,
    answer:
      | "allow"
      | "deny"
      | { readonly decision: "allow" | "deny"; readonly message?: string; readonly remember?: "session" | "project" },
  ): Promise<void> {
    await this.#ask("POST", path(id, "permissions", requestId), {
      body: typeof answer === "string" ? { decision: answer } : answer,
    });
  }

  async answerQuestion(id: string, questionId: string, value?: string): Promise<void> {
    await this.#ask("POST", path(id, "questions", questionId), { body: { value } });
  }

  /** A token that may look at this session for a time. */
  async share(
    id: string,
    wish: { readonly expiresInSeconds?: number } = {},
  ): Promise<{ token: string; name: string; expiresAt: string }> {
    return await this.#json("POST", path(id, "share"), { body: wish });
  }

  /**
   * What happens in a session, without end: it comes back by itself after every break, with each stored event once. Ends when the signal comes
   * or the session is removed; rejects where the server says no.
   */
  async *watch(id: string, { after, deltas = true, signal }: WatchOptions = {}): AsyncGenerator<ServerFrame> {
    let last = after ?? (await this.getSession(id)).storedSeq; // something to come back to
    let tries = 0;
    while (!signal?.aborted) {
      try {
        const query = toQuery({ after: last, ...(!deltas && { deltas: "false" }) });
        const response = await this.#ask("GET", `${path(id, "events")}${query}`, {
          signal,
          headers: { accept: "text/event-stream" },
        });
        for await (const { id: seq, data } of readFrames(response)) {
          tries = 0;
          const frame: ServerFrame = JSON.parse(data);
          if (seq !== undefined) last = Number(seq);
          if (frame.type === "resync") last = frame.session.storedSeq;
          if (frame.type === "stream.ended") {
            if (!frame.error.retryable) return;
            break;
          }
          yield frame;
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (error instanceof OutriderError && !error.retryable) throw error;
      }
      await pause((this.#options.retryMs ?? 500) * Math.min(30, 2 ** tries++), signal);
    }
  }

  async #json<T>(method: string, target: string, asking: Asking = {}): Promise<T> {
    return (await (await this.#ask(method, target, asking)).json()) as T; // the document says what it is
  }

  async #ask(method: string, target: string, { body, key, signal, headers }: Asking = {}): Promise<Response> {
    const { url, token, fetch = globalThis.fetch } = this.#options;
    const response = await fetch(`${url.replace(/\/$/, "")}${target}`, {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(key !== undefined && { "idempotency-key": key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    if (response.ok) return response;
    throw await toError(response);
  }
}

function path(id: string, ...more: readonly string[]): string {
  return ["/v1/sessions", ...[id, ...more].map(encodeURIComponent)].join("/");
}

function toBody(input: PromptInput): object {
  return typeof input === "string" ? { text: input } : { content: input };
}

function toQuery(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

async function toError(response: Response): Promise<OutriderError> {
  const { status } = response;
  try {
    const { detail, code, retryable, hint } = (await response.json()) as {
      detail: string;
      code: string;
      retryable: boolean;
      hint?: string;
    };
    return new OutriderError(status, { code, message: detail, retryable, ...(hint !== undefined && { hint }) });
  } catch {
    return new OutriderError(status, { code: "internal", message: `The server answered ${status}`, retryable: status >= 500 });
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    if (signal?.aborted) done();
    else signal?.addEventListener("abort", done, { once: true });
  });
}
