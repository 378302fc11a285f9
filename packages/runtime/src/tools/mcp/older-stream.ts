import type { Fetch } from "./bounded-fetch.ts";
import { messageEvents, toEventText } from "./message-events.ts";
import { OpenRequests } from "./open-requests.ts";
import { parseMessages } from "./parse-messages.ts";
import { shown } from "./well-formed-answer.ts";

/**
 * `fetch` of a connection in the older form of HTTP, where all answers come in one stream: its asker understands each of them, and `onLost`
 * hears that the stream is over. The client alone would open another one, to a server that knows nothing of the first.
 */
export function olderStreamFetch(fetch: Fetch, onLost: () => void): Fetch {
  const requests = new OpenRequests();

  async function* answers(body: AsyncIterable<Uint8Array>, signal: AbortSignal | null | undefined): AsyncGenerator<Uint8Array> {
    try {
      for await (const event of messageEvents(body)) {
        const messages = event.data === undefined ? [] : parseMessages(event.data);
        const isForOne = messages === undefined && requests.size === 1;
        const ends = isForOne ? requests.fail(`The server's answer is no JSON message: ${shown(event.data)}`) : [];
        yield Buffer.from(toEventText(event, messages?.map((message) => requests.receive(message)) ?? ends));
      }
    } catch {
      // over, too
    }
    if (!signal?.aborted) onLost();
  }

  return async (input, init = {}) => {
    const sent = typeof init.body === "string" ? (parseMessages(init.body) ?? []) : undefined;
    const ids = sent?.flatMap((message) => requests.send(message) ?? []) ?? [];
    const response = await fetch(input, init).catch((error: unknown) => {
      requests.fail("", ids); // the client says why
      throw error;
    });
    if (!response.ok) requests.fail("", ids);
    if (sent || !response.ok || !response.body) return response;
    const { status, statusText, headers } = response;
    return new Response(ReadableStream.from(answers(response.body, init.signal)), { status, statusText, headers });
  };
}
