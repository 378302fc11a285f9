import { createParser } from "eventsource-parser";
import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import { sleep } from "../util/sleep.ts";
import type { ConnectionOptions } from "./connections.ts";
import type { Dialect } from "./dialect.ts";
import { createHttpClient, type HttpClient, type HttpResponse, readText, type Timeouts } from "./http.ts";
import { excerpt, type HttpFailure } from "./http-error.ts";
import type { ModelClient, ModelEvent, ModelRequest } from "./model.ts";
import { defaultRetryPolicy, giveUp, type RetryPolicy, retryDelay } from "./retry.ts";

export type ModelClientOptions = ConnectionOptions & {
  /** The provider's name, as it goes into messages. */
  readonly name: string;
  readonly dialect: Dialect;
  endpoint(request: ModelRequest): { url: string; headers: Record<string, string> };
  /** Words for an answer that is no 2xx. */
  toError(failure: HttpFailure): RuntimeError;
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryPolicy>;
  /** Milliseconds since 1970. */
  now?(): number;
  /** At least 0, below 1. */
  random?(): number;
};

/** A model behind HTTP: encodes the request, streams the answer, tries again where that can help. */
export function createModelClient(options: ModelClientOptions): ModelClient & { close(): void } {
  const http = createHttpClient(options);
  return {
    stream: (request, { signal }) => streamWithRetries({ options, http, request, signal }),
    close: () => http.close(),
  };
}

type Call = { options: ModelClientOptions; http: HttpClient; request: ModelRequest; signal: AbortSignal };

async function* streamWithRetries(call: Call): AsyncGenerator<ModelEvent> {
  const { options, signal } = call;
  const policy = { ...defaultRetryPolicy, ...options.retry };
  const body = JSON.stringify(options.dialect.encode(call.request));
  for (let retries = 0; ; retries++) {
    try {
      yield* streamOnce(call, { body, fresh: retries > 0 });
      return;
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const error = toRuntimeError(thrown);
      const delayMs = retryDelay(error, { retries, policy, random: options.random ?? Math.random });
      if (delayMs === undefined) throw giveUp(error, { retries, policy });
      yield { type: "retry.scheduled", attempt: retries + 1, maxRetries: policy.maxRetries, delayMs, error: error.toJSON() };
      await sleep(delayMs, signal);
    }
  }
}

/** Longer bodies of failed requests tell nothing more. */
const maxErrorBytes = 64 * 1024;

async function* streamOnce(call: Call, attempt: { body: string; fresh: boolean }): AsyncGenerator<ModelEvent> {
  const { options, http, request, signal } = call;
  const { url, headers } = options.endpoint(request);
  const response = await http.openStream({
    url,
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream", "user-agent": "outrider", ...headers },
    body: attempt.body,
    signal,
    fresh: attempt.fresh,
    ...(options.timeouts && { timeouts: options.timeouts }),
  });
  await refuseOthers(response, options, secretsIn(headers));

  const decoder = options.dialect.decoder(request, options.name);
  let finished: ModelEvent | undefined;
  for await (const payloads of readPayloads(response.body)) {
    for (const event of payloads.flatMap((payload) => decoder.push(payload))) {
      if (event.type === "finished") finished = event;
      else yield event;
    }
    if (finished) break; // the connection may take its time to end, or never do
  }
  if (!finished) throw new RuntimeError("provider-unavailable", "The answer broke off before its end", { retryable: true });
  yield finished;
}

/** Whatever is no stream of events is a failure: an error status, or a page from something that is not the API. */
async function refuseOthers(response: HttpResponse, options: ModelClientOptions, secrets: readonly string[]): Promise<void> {
  const { status, headers } = response;
  if (status < 200 || status >= 300) {
    const body = await readText(response.body, maxErrorBytes);
    throw options.toError({ status, headers, body, now: (options.now ?? Date.now)(), secrets });
  }
  const type = headers["content-type"] ?? "text/event-stream";
  if (/^\s*text\/event-stream\b/i.test(type)) return;
  const body = excerpt(await readText(response.body, maxErrorBytes), secrets);
  throw new RuntimeError("provider-protocol", `Expected a stream of events, got ${type}: ${body || "(empty)"}`, {
    httpStatus: status,
    hint: "Check the base URL: something else than the model's API answered",
  });
}

/** The values of headers that identify the user, as they could be echoed by a server. */
function secretsIn(headers: Record<string, string>): string[] {
  return Object.entries(headers)
    .filter(([name]) => /key|token|authorization/i.test(name))
    .map(([, value]) => value.replace(/^(Bearer|Basic)\s+/i, ""));
}

type Payload = { event: string | undefined; data: string };

/** More than this without an end is no event. */
const maxEventLength = 64 * 1024 * 1024;

/** Server-sent events, as many at a time as one read brought. */
async function* readPayloads(body: AsyncIterable<Uint8Array>): AsyncGenerator<Payload[]> {
  let payloads: Payload[] = [];
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: ({ event, data }) => payloads.push({ event, data }),
    onError: (error) => {
      if (error.type !== "max-buffer-size-exceeded") return; // a field we do not know
      throw new RuntimeError("provider-protocol", `The server sent ${maxEventLength} characters without ending an event`, {
        retryable: true,
      });
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (payloads.length === 0) continue;
    yield payloads;
    payloads = [];
  }
}
