import { type BoundedLine, boundedLines, maxLineLength } from "./bounded-lines.ts";
import { toShortMessage } from "./oversized-message.ts";

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** An answer of a server over HTTP that takes a bounded amount of memory, whatever the server sends. */
export function boundedFetch(fetch: Fetch, maxLength: number = maxLineLength): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    const kind = headers.get("content-type") ?? "";
    const bound = kind.startsWith("text/event-stream") ? eventLines : kind.startsWith("application/json") ? jsonText : otherText;
    const asked = idsIn(init?.body);
    const body = ReadableStream.from(bound(response.body, { asked, maxLength }));
    return new Response(body, { status, statusText, headers });
  };
}

type Bound = { readonly asked: readonly (string | number)[]; readonly maxLength: number };

/** An event of several lines is no longer than a few lines may be. */
const maxLinesPerEvent = 2;

async function* eventLines(body: AsyncIterable<Uint8Array>, { asked, maxLength }: Bound): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const line of boundedLines(body, maxLength)) {
    const text = line.type === "line" ? line.text : toEventLine(line, asked);
    length = text.trim() === "" ? 0 : length + text.length;
    if (length > maxLinesPerEvent * maxLength) throw new Error(`The server sent an event of more than ${length} characters`);
    yield Buffer.from(`${text}\n`);
  }
}

function toEventLine(line: BoundedLine & { type: "oversized" }, asked: Bound["asked"]): string {
  const [, data] = /^data: ?(.*)$/s.exec(line.start) ?? [];
  const message = data === undefined ? undefined : toShortMessage({ ...line, start: data }, asked);
  return message ? `data: ${JSON.stringify(message)}` : ": a line that was too long";
}

async function* jsonText(body: AsyncIterable<Uint8Array>, { asked, maxLength }: Bound): AsyncGenerator<Uint8Array> {
  const { value: whole } = await boundedLines(withoutLines(body), maxLength).next();
  if (!whole) return;
  if (whole.type === "line") return yield Buffer.from(whole.text);
  const message = toShortMessage(whole, asked);
  if (!message) throw new Error(`The server answered with ${whole.length} characters, which is too long`);
  yield Buffer.from(JSON.stringify(message));
}

/** Ends of lines mean nothing between the parts of JSON, and cannot stand inside of them. */
async function* withoutLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) yield chunk.includes(10) ? chunk.map((byte) => (byte === 10 ? 32 : byte)) : chunk;
}

async function* otherText(body: AsyncIterable<Uint8Array>, { maxLength }: Bound): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxLength) return;
    yield chunk;
  }
}

/** The ids of the requests in what is sent. */
function idsIn(body: unknown): (string | number)[] {
  if (typeof body !== "string") return [];
  const sent: unknown = JSON.parse(body);
  return [sent].flat().flatMap((message) => {
    const { id } = Object(message) as { id?: unknown };
    return typeof id === "string" || typeof id === "number" ? [id] : [];
  });
}
