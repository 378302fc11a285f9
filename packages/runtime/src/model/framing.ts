import { createParser } from "eventsource-parser";
import { RuntimeError } from "../protocol/errors.ts";

export type Payload = { event: string | undefined; data: string };

/** How the payloads of one answer are cut out of its bytes. */
export interface Framing {
  /** What is asked for, and what a body of this kind calls itself. */
  readonly contentType: string;
  /** The payloads of a body, as many at a time as one read brought. */
  read(body: AsyncIterable<Uint8Array>): AsyncGenerator<Payload[]>;
}

export const serverSentEvents: Framing = { contentType: "text/event-stream", read: readServerSentEvents };

/** More than this without an end is no event. */
const maxEventLength = 64 * 1024 * 1024;

async function* readServerSentEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<Payload[]> {
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
