import type { Fetch } from "./bounded-fetch.ts";
import { messageEvents, toEventText } from "./message-events.ts";
import { OpenRequests, type RequestId } from "./open-requests.ts";
import { parseMessages } from "./parse-messages.ts";
import type { McpMessage } from "./transport.ts";
import { shown } from "./well-formed-answer.ts";
import { messageOf } from "../../util/message-of.ts";

/** Requests whose answer comes with a stream that broke off and may be taken up again, and how often that has brought nothing. */
type Resumable = { readonly ids: readonly RequestId[]; tries: number };

type Body = AsyncIterable<Uint8Array>;

/** How often a stream is taken up that says nothing new. */
const maxTries = 8;

/**
 * `fetch` of a connection over streamable HTTP in which each request gets an answer that its asker understands, or an end: where the server
 * sends what is no answer, answers somebody else, takes the request and says nothing, or breaks off. The client alone would wait until the
 * time is up. A stream is read until its answers are there, and no longer than somebody waits for them.
 */
export function answeredFetch(fetch: Fetch): Fetch {
  const requests = new OpenRequests();
  const exchanges = new Map<RequestId, AbortController>();
  const resumable = new Map<string, Resumable>();

  const post = async (input: string | URL, init: RequestInit, sent: readonly McpMessage[]): Promise<Response> => {
    for (const { method, params } of sent)
      if (method === "notifications/cancelled") exchanges.get(Object(params).requestId)?.abort();
    const ids = sent.flatMap((message) => requests.send(message) ?? []);
    if (ids.length === 0) return await fetch(input, init);
    const given = new AbortController();
    for (const id of exchanges.keys()) if (requests.among([id]).length === 0) exchanges.delete(id);
    for (const id of ids) exchanges.set(id, given);
    try {
      const signal = init.signal ? AbortSignal.any([init.signal, given.signal]) : given.signal;
      const response = await fetch(input, { ...init, signal });
      if (response.ok) return answered(response, ids);
      requests.fail("", ids); // the client says why
      return response;
    } catch (error) {
      requests.fail("", ids);
      throw error;
    }
  };

  const answered = (response: Response, ids: readonly RequestId[]): Response => {
    const kind = mediaTypeOf(response);
    if (kind === "text/event-stream" && response.body) return stream(response, response.body, ids);
    if (kind === "application/json") return new Response(ReadableStream.from(jsonAnswers(response, ids)), partsOf(response));
    if (response.status !== 202 && response.status !== 204 && response.body) return response; // the client says what it is
    const ends = requests.fail(`The server took the request and gave no answer (HTTP ${response.status})`, ids);
    return Response.json(ends.length === 1 ? ends[0] : ends);
  };

  async function* jsonAnswers(response: Response, ids: readonly RequestId[]): AsyncGenerator<Uint8Array> {
    const messages = parseMessages(await response.text());
    const answers = messages
      ? messages.map((message) => requests.receive(message, ids))
      : requests.fail("The server's answer is no JSON message", ids);
    const all = [...answers, ...requests.fail("The server's answer is to nothing that it was asked", ids)];
    yield Buffer.from(JSON.stringify(all.length === 1 ? all[0] : all));
  }

  const stream = (response: Response, body: Body, ids: readonly RequestId[], from?: string): Response =>
    new Response(ReadableStream.from(streamAnswers(body, ids, from)), partsOf(response));

  async function* streamAnswers(body: Body, ids: readonly RequestId[], from?: string): AsyncGenerator<Uint8Array> {
    const tries = from === undefined ? 0 : (resumable.get(from)?.tries ?? 0);
    let last: string | undefined;
    let problem = "ended its answer before it was complete";
    try {
      for await (const event of messageEvents(body)) {
        if (event.id) last = event.id;
        const messages = event.data === undefined ? [] : parseMessages(event.data);
        const wrong = `The server's answer is no JSON message: ${shown(event.data)}`;
        const answers = messages?.map((message) => requests.receive(message, ids)) ?? requests.fail(wrong, ids);
        yield Buffer.from(toEventText(event, answers));
        if (requests.among(ids).length === 0) return; // nobody waits for more
      }
    } catch (error) {
      problem = `broke off: ${messageOf(error)}`;
    }
    if (requests.among(ids).length === 0) return;
    const next = last ?? from;
    if (next === undefined || (last === undefined && tries >= maxTries))
      return yield* endings(requests.fail(`The server ${problem}`, ids));
    resumable.set(next, { ids, tries: last === undefined ? tries + 1 : 0 });
    if (last === undefined) yield Buffer.from(`event: none\nid: ${next}\ndata: none\n\n`); // where the client goes on from
  }

  /** Goes on with a stream that broke off. */
  const resume = async (input: string | URL, init: RequestInit, from: string): Promise<Response> => {
    const record = resumable.get(from);
    if (!record) return await fetch(input, init);
    if (requests.among(record.ids).length === 0) return new Response(null, { status: 405 }); // nobody waits any more
    const giveUp = (why: string): Response =>
      new Response(ReadableStream.from(endings(requests.fail(`The server broke off its answer, and ${why}`, record.ids))), {
        headers: { "content-type": "text/event-stream" },
      });
    try {
      const response = await fetch(input, init);
      if (response.ok && response.body) return stream(response, response.body, record.ids, from);
      await response.body?.cancel();
      const isPassing = response.status >= 500 || response.status === 429 || response.status === 408;
      if (isPassing && ++record.tries < maxTries) return response;
      return giveUp(`does not go on with it (HTTP ${response.status})`);
    } catch (error) {
      if (++record.tries < maxTries) throw error;
      return giveUp(`is not there any more: ${messageOf(error)}`);
    }
  };

  return async (input, init = {}) => {
    const sent = typeof init.body === "string" ? parseMessages(init.body) : undefined;
    if (sent) return await post(input, init, sent);
    const from = new Headers(init.headers).get("last-event-id");
    return from === null ? await fetch(input, init) : await resume(input, init, from);
  };
}

async function* endings(messages: readonly McpMessage[]): AsyncGenerator<Uint8Array> {
  for (const message of messages) yield Buffer.from(`data: ${JSON.stringify(message)}\n\n`);
}

function mediaTypeOf(response: Response): string {
  return (response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

function partsOf({ status, statusText, headers }: Response): ResponseInit {
  return { status, statusText, headers };
}
