import { RuntimeError } from "../protocol/errors.ts";
import { flatten } from "../util/flatten.ts";
import { BodyText } from "./body-text.ts";
import type { ConnectionOptions } from "./connections.ts";
import type { Decoder, Dialect } from "./dialect.ts";
import { type Framing, type Payload, serverSentEvents } from "./framing.ts";
import { createHttpClient, type HttpClient, type HttpResponse, readText, type Timeouts } from "./http.ts";
import { excerpt, type HttpFailure, requestIdIn } from "./http-error.ts";
import type { ModelClient, ModelEvent, ModelRequest } from "./model.ts";
import { defaultRetryPolicy, type RetryPolicy, withRetries } from "./retry.ts";

export type ModelClientOptions = ConnectionOptions & {
  /** The provider's name, as it goes into messages. */
  readonly name: string;
  readonly dialect: Dialect;
  /** Asked before every attempt: what it answers may depend on the body (a signature) and on the time (a token). */
  endpoint(request: ModelRequest, attempt: Attempt): Endpoint | Promise<Endpoint>;
  /** Server-sent events, unless the wire says otherwise. */
  readonly framing?: Framing;
  /** Words for an answer that is no 2xx. */
  toError(failure: HttpFailure): RuntimeError;
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryPolicy>;
  /** Milliseconds since 1970. */
  now?(): number;
  /** At least 0, below 1. */
  random?(): number;
};

export type Endpoint = { readonly url: string; readonly headers: Record<string, string> };

/** `now` in milliseconds since 1970. */
export type Attempt = { readonly body: string; readonly signal: AbortSignal; readonly now: number };

/** A model behind HTTP: encodes the request, streams the answer, tries again where that can help. */
export function createModelClient(options: ModelClientOptions): ModelClient & { close(): void } {
  const http = createHttpClient(options);
  const bodies = new BodyText();
  return {
    stream: (request, { signal }) => flatten(streamWithRetries({ options, http, bodies, request, signal })),
    close: () => http.close(),
  };
}

type Call = {
  options: ModelClientOptions;
  http: HttpClient;
  bodies: BodyText;
  request: ModelRequest;
  signal: AbortSignal;
};

/** In batches, as the network brings them. */
function streamWithRetries(call: Call): AsyncGenerator<readonly ModelEvent[]> {
  const { options, signal } = call;
  const policy = { ...defaultRetryPolicy, ...options.retry };
  let body: string | undefined;
  const attempt = (retries: number): AsyncGenerator<readonly ModelEvent[]> => {
    body ??= call.bodies.write(options.dialect.encode(call.request));
    return streamOnce(call, { body, fresh: retries > 0 });
  };
  return withRetries(attempt, { policy, signal, random: options.random ?? Math.random });
}

/** Longer bodies of failed requests tell nothing more. */
const maxErrorBytes = 64 * 1024;

async function* streamOnce(call: Call, attempt: { body: string; fresh: boolean }): AsyncGenerator<readonly ModelEvent[]> {
  const { options, http, request, signal } = call;
  const { framing = serverSentEvents, now = Date.now } = options;
  const { url, headers } = await options.endpoint(request, { body: attempt.body, signal, now: now() });
  const response = await http.openStream({
    url,
    method: "POST",
    headers: { "content-type": "application/json", accept: framing.contentType, "user-agent": "outrider", ...headers },
    body: attempt.body,
    signal,
    fresh: attempt.fresh,
    ...(options.timeouts && { timeouts: options.timeouts }),
  });
  const seen = { request, sent: attempt.body };
  await refuseOthers(response, options, { ...seen, secrets: secretsIn(headers) });

  const requestId = requestIdIn(response.headers);
  const decoder = options.dialect.decoder(request, options.name);
  let finished: (ModelEvent & { type: "finished" }) | undefined;
  try {
    for await (const events of readEvents(framing.read(response.body), decoder)) {
      const last = events.at(-1);
      if (last?.type === "finished") finished = last;
      yield finished ? events.slice(0, -1) : events;
      if (finished) break; // the connection may take its time to end, or never do
    }
  } catch (error) {
    throw error instanceof RuntimeError ? await pointAtPart(error, seen, error.message) : error;
  }
  if (!finished) throw new RuntimeError("provider-unavailable", "The answer broke off before its end", { retryable: true });
  yield [requestId === undefined ? finished : { ...finished, message: { ...finished.message, requestId } }];
}

/** Whatever is no stream of events is a failure: an error status, or a page from something that is not the API. */
async function refuseOthers(
  response: HttpResponse,
  options: ModelClientOptions,
  { secrets, ...seen }: Seen & { secrets: readonly string[] },
): Promise<void> {
  const { status, headers } = response;
  if (status < 200 || status >= 300) {
    const body = await readText(response.body, maxErrorBytes);
    const error = options.toError({ status, headers, body, now: (options.now ?? Date.now)(), secrets });
    throw await pointAtPart(error, seen, body);
  }
  const expected = options.framing ?? serverSentEvents;
  const type = headers["content-type"] ?? expected.contentType;
  if (type.trim().toLowerCase().startsWith(expected.contentType)) return;
  const body = excerpt(await readText(response.body, maxErrorBytes), secrets);
  throw new RuntimeError("provider-protocol", `Expected a stream of events, got ${type}: ${body || "(empty)"}`, {
    httpStatus: status,
    hint: "Check the base URL: something else than the model's API answered",
  });
}

type Seen = { readonly request: ModelRequest; readonly sent: string };

/** A refusal with the parts that it is about, where it says so. */
async function pointAtPart(error: RuntimeError, { request, sent }: Seen, said: string): Promise<RuntimeError> {
  if (error.code !== "provider-bad-request") return error;
  const { findRefused } = await import("./find-refused.ts");
  const refused = findRefused(request, { sent, said });
  return refused ? error.restated({ refused }) : error;
}

/** The values of headers that identify the user, as they could be echoed by a server. */
function secretsIn(headers: Record<string, string>): string[] {
  return Object.entries(headers)
    .filter(([name]) => /key|token|authorization/i.test(name))
    .map(([, value]) => value.replace(/^(Bearer|Basic)\s+/i, ""));
}

/** What the decoder makes of one read at a time, and of the regular end of the body. */
async function* readEvents(body: AsyncIterable<Payload[]>, decoder: Decoder): AsyncGenerator<ModelEvent[]> {
  for await (const payloads of body) {
    const events: ModelEvent[] = [];
    for (const payload of payloads) for (const event of decoder.push(payload)) events.push(event); // `flatMap` takes five times as long
    yield events;
  }
  yield decoder.end?.() ?? [];
}
