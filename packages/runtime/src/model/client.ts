import type { JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { flatten } from "../util/flatten.ts";
import { BodyText } from "./body-text.ts";
import type { ConnectionOptions } from "./connections.ts";
import type { Decoder, Dialect } from "./dialect.ts";
import { DoubledPayloads } from "./doubled-payloads.ts";
import { type Framing, type Payload, serverSentEvents } from "./framing.ts";
import { createHttpClient, type HttpClient, type HttpResponse, readText, type Timeouts } from "./http.ts";
import { excerpt, type HttpFailure, requestIdIn } from "./http-error.ts";
import type { ModelClient, ModelEvent, ModelRequest } from "./model.ts";
import { isRefusedHere } from "./network-error.ts";
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

export type Attempt = {
  readonly body: string;
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The answer is to come in one piece and not as a stream. */
  readonly isWhole: boolean;
};

/** A model behind HTTP: encodes the request, streams the answer, tries again where that can help. */
export function createModelClient(options: ModelClientOptions): ModelClient & { close(): void } {
  const http = createHttpClient(options);
  const bodies = new BodyText();
  const server = { hasAnswered: false };
  return {
    stream: (request, { signal }) => flatten(streamWithRetries({ options, http, bodies, server, request, signal })),
    close: () => http.close(),
  };
}

type Call = {
  options: ModelClientOptions;
  http: HttpClient;
  bodies: BodyText;
  /** Whatever it said, it is there. */
  server: { hasAnswered: boolean };
  request: ModelRequest;
  signal: AbortSignal;
};

/** After so many streams that began and broke, one answer is asked for in one piece: some gateways lose streams, and nothing else. */
const brokenBeforeWhole = 2;
/** An answer in one piece is silent until it is done. */
const wholeAnswerMs = 600_000;

/** In batches, as the network brings them. */
function streamWithRetries(call: Call): AsyncGenerator<readonly ModelEvent[]> {
  const { options, signal } = call;
  const policy = { ...defaultRetryPolicy, ...options.retry };
  let encoded: JsonObject | undefined;
  let broken = 0;
  const attempt = async function* (retries: number): AsyncGenerator<readonly ModelEvent[]> {
    if (!encoded) {
      const notes: ModelEvent[] = [];
      const whole = options.dialect.encode(call.request, (message) => notes.push({ type: "warning.raised", message }));
      const { omit } = call.request;
      encoded = omit ? (await import("./without-fields.ts")).withoutFields(whole, omit) : whole;
      if (notes.length > 0) yield notes;
    }
    const isWhole = broken === brokenBeforeWhole;
    const body = call.bodies.write(isWhole ? unstreamed(encoded) : encoded);
    const answer = { hasBegun: isWhole }; // so that it is asked for once only
    try {
      yield* streamOnce(call, { body, isFresh: retries > 0, isWhole, answer });
    } catch (error) {
      if (answer.hasBegun) broken++;
      const isDead = !call.server.hasAnswered && error instanceof RuntimeError && isRefusedHere(error);
      throw isDead ? error.restated({ retryable: false }) : error;
    }
  };
  return withRetries(attempt, { policy, signal, random: options.random ?? Math.random });
}

function unstreamed({ stream: _, stream_options: __, ...body }: JsonObject): JsonObject {
  return body;
}

/** Longer bodies of failed requests tell nothing more. */
const maxErrorBytes = 64 * 1024;

type Try = {
  readonly body: string;
  readonly isFresh: boolean;
  readonly isWhole: boolean;
  readonly answer: { hasBegun: boolean };
};

async function* streamOnce(call: Call, { body, isFresh, isWhole, answer }: Try): AsyncGenerator<readonly ModelEvent[]> {
  const { options, http, request, signal } = call;
  const { framing = serverSentEvents, now = Date.now } = options;
  const { url, headers } = await options.endpoint(request, { body, signal, now: now(), isWhole });
  const accept = isWhole ? wholeType : framing.contentType;
  const response = await http.openStream({
    url,
    method: "POST",
    headers: { "content-type": "application/json", accept, "user-agent": "outrider", ...headers },
    body,
    signal,
    fresh: isFresh,
    timeouts: { ...options.timeouts, ...(isWhole && { headersMs: wholeAnswerMs }) },
  });
  call.server.hasAnswered = true;
  const seen = { request, sent: body };
  const secrets = secretsIn(headers);
  await refuseFailures(response, options, { ...seen, secrets });

  answer.hasBegun = true;
  const requestId = requestIdIn(response.headers);
  const decoder = options.dialect.decoder(request, options.name);
  const type = (response.headers["content-type"] ?? accept).trim().toLowerCase(); // who does not say is taken to send what was asked for
  const payloads = type.startsWith(framing.contentType)
    ? framing.read(response.body)
    : readWhole(response, { dialectId: options.dialect.id, type, secrets });
  let finished: (ModelEvent & { type: "finished" }) | undefined;
  try {
    for await (const events of readEvents(payloads, decoder)) {
      const last = events.at(-1);
      if (last?.type === "finished") finished = last;
      yield finished ? events.slice(0, -1) : events;
      if (finished) break; // the connection may take its time to end, or never do
    }
  } catch (error) {
    throw error instanceof RuntimeError ? await pointAtPart(error, seen, error.message) : error;
  }
  if (!finished) throw new RuntimeError("provider-unavailable", "The answer broke off before its end", { retryable: true });
  const rateLimits = rateLimitsIn(response.headers);
  const message = requestId === undefined ? finished.message : { ...finished.message, requestId };
  yield [{ ...finished, message, ...(rateLimits && { rateLimits }) }];
}

function rateLimitsIn(headers: HttpResponse["headers"]): HttpResponse["headers"] | undefined {
  const found = Object.entries(headers).filter(([name]) => name.includes("ratelimit"));
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

async function refuseFailures(
  response: HttpResponse,
  options: ModelClientOptions,
  { secrets, ...seen }: Seen & { secrets: readonly string[] },
): Promise<void> {
  const { status, headers } = response;
  if (status >= 200 && status < 300) return;
  const body = await readText(response.body, maxErrorBytes);
  const error = options.toError({ status, headers, body, now: (options.now ?? Date.now)(), secrets });
  throw await pointAtPart(await pointAtModel(error, { provider: options.name, model: seen.request.model }), seen, body);
}

async function pointAtModel(error: RuntimeError, asked: { provider: string; model: string }): Promise<RuntimeError> {
  if (error.code !== "provider-bad-request") return error;
  return (await import("./unknown-model.ts")).hintAtModel(error, asked);
}

const wholeType = "application/json";
/** As much as an event of a stream may be long. */
const maxWholeBytes = 64 * 1024 * 1024;

/** An answer that came in one piece, asked for or not; or a page from something that is not the API. */
async function* readWhole(
  response: HttpResponse,
  { dialectId, type, secrets }: { dialectId: string; type: string; secrets: readonly string[] },
): AsyncGenerator<readonly Payload[]> {
  const isJson = type.startsWith(wholeType);
  const text = await readText(response.body, isJson ? maxWholeBytes : maxErrorBytes);
  const { toStreamed } = await import("./whole-answer.ts");
  const payloads = isJson ? toStreamed(dialectId, text) : undefined;
  if (payloads) return yield payloads;
  throw new RuntimeError(
    "provider-protocol",
    `Expected an answer of the model, got ${type}: ${excerpt(text, secrets) || "(empty)"}`,
    {
      httpStatus: response.status,
      hint: "Check the base URL: something else than the model's API answered",
    },
  );
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
async function* readEvents(body: AsyncIterable<readonly Payload[]>, decoder: Decoder): AsyncGenerator<ModelEvent[]> {
  const doubled = new DoubledPayloads();
  for await (const payloads of body) {
    const events: ModelEvent[] = [];
    for (const payload of payloads) {
      if (doubled.isRepeated(payload)) continue;
      for (const event of decoder.push(payload)) events.push(event); // `flatMap` takes five times as long
    }
    yield events;
  }
  yield decoder.end?.() ?? [];
}
