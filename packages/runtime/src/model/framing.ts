import { StringDecoder } from "node:string_decoder";
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
const byteOrderMark = "\uFEFF";

async function* readServerSentEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<Payload[]> {
  // Not a TextDecoder: Node 20 makes texts of two bytes per character with it, at eight times the cost.
  const decoder = new StringDecoder("utf8");
  const events = new EventReader();
  let begun = false;
  for await (const chunk of body) {
    const text = decoder.write(chunk);
    if (text === "") continue;
    const payloads = events.read(!begun && text.startsWith(byteOrderMark) ? text.slice(1) : text);
    begun = true;
    if (payloads.length > 0) yield payloads;
  }
}

/** An event as every model's API writes it. */
const usualEvent = /^(?:event: ?([^\n]*)\n)?data: ?([^\n]*)$/;

/** Takes usual events apart itself, since there are thousands of them, and leaves everything else to the parser, which knows all of the format. */
class EventReader {
  #payloads: Payload[] = [];
  /** The beginning of an event whose end has not come. */
  #rest = "";
  #restEndsLine = false;
  /** The last line ended with a carriage return: a line feed that comes next belongs to it. */
  #endedByReturn = false;
  readonly #parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: ({ event, data }) => this.#payloads.push({ event, data }),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") throw tooLong(); // the rest are fields we do not know
    },
  });

  read(raw: string): Payload[] {
    this.#payloads = [];
    const text = this.#endedByReturn || raw.includes("\r") ? this.#withLineFeeds(raw) : raw;
    if (text.includes("\n\n") || (this.#restEndsLine && text.startsWith("\n"))) this.#cut(this.#rest + text);
    else this.#keep(this.#rest + text);
    this.#restEndsLine = this.#rest !== "" && (text === "" ? this.#restEndsLine : text.endsWith("\n"));
    return this.#payloads;
  }

  /** Lines may end in three ways. Here they end in one, and at once: nobody waits for the next read to see an event that is whole. */
  #withLineFeeds(raw: string): string {
    const text = this.#endedByReturn && raw.startsWith("\n") ? raw.slice(1) : raw;
    this.#endedByReturn = raw.endsWith("\r");
    return text.replace(/\r\n?/g, "\n");
  }

  #cut(text: string): void {
    const end = text.lastIndexOf("\n\n");
    for (const block of text.slice(0, end).split("\n\n")) {
      const usual = usualEvent.exec(block);
      if (usual) this.#payloads.push({ event: usual[1] || undefined, data: usual[2] ?? "" });
      else this.#parser.feed(`${block}\n\n`);
    }
    this.#keep(text.slice(end + 2));
  }

  #keep(rest: string): void {
    if (rest.length > maxEventLength) throw tooLong();
    this.#rest = rest;
  }
}

function tooLong(): RuntimeError {
  return new RuntimeError("provider-protocol", `The server sent ${maxEventLength} characters without ending an event`, {
    retryable: true,
  });
}
