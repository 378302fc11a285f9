import { type ErrorCode, RuntimeError } from "../protocol/errors.ts";
import type { Framing, Payload } from "./framing.ts";
import { excerpt, redact } from "./http-error.ts";
import { crc32 } from "../util/crc32.ts";

/**
 * AWS's binary event stream as Bedrock sends it: each message wraps one JSON payload of the model's own wire in base64.
 * Message: length, length of the headers, checksum of these two; headers; body; checksum of all before it. Numbers are big-endian.
 */
export const awsEventStream: Framing = { contentType: "application/vnd.amazon.eventstream", read: readEventStream };

const preludeLength = 12;
const checksumLength = 4;
/** AWS's own limit is 24 MB; a longer message is a sign that this is no event stream. */
const maxMessageLength = 24 * 1024 * 1024;

async function* readEventStream(body: AsyncIterable<Uint8Array>): AsyncGenerator<Payload[]> {
  const chunks: Buffer[] = [];
  let available = 0;
  let needed = preludeLength;
  for await (const chunk of body) {
    chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    available += chunk.byteLength;
    if (available < needed) continue; // joining the pieces of a long message again and again would cost its length squared
    const { messages, rest } = splitMessages(Buffer.concat(chunks));
    chunks.splice(0, chunks.length, rest);
    available = rest.length;
    needed = rest.length < preludeLength ? preludeLength : rest.readUInt32BE(0);
    const payloads = messages.flatMap(toPayloads);
    if (payloads.length > 0) yield payloads;
  }
  if (available > 0) throw broken("ends in the middle of a message");
}

function splitMessages(bytes: Buffer): { messages: Message[]; rest: Buffer } {
  const messages: Message[] = [];
  let start = 0;
  while (bytes.length - start >= preludeLength) {
    const length = messageLength(bytes.subarray(start, start + preludeLength));
    if (bytes.length - start < length) break;
    messages.push(parseMessage(bytes.subarray(start, start + length)));
    start += length;
  }
  return { messages, rest: bytes.subarray(start) };
}

/** The prelude has a checksum of its own, so that a wrong length is found before anything is waited for. */
function messageLength(prelude: Buffer): number {
  const length = prelude.readUInt32BE(0);
  if (crc32(prelude.subarray(0, 8)) !== prelude.readUInt32BE(8)) throw broken("has a message whose prelude fails its checksum");
  const headersLength = prelude.readUInt32BE(4);
  if (length > maxMessageLength || headersLength > length - preludeLength - checksumLength) {
    throw broken(`has a message of ${length} bytes with ${headersLength} bytes of headers`);
  }
  return length;
}

type Message = { headers: ReadonlyMap<string, string>; body: string };

function parseMessage(message: Buffer): Message {
  const end = message.length - checksumLength;
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) throw broken("has a message that fails its checksum");
  const headersEnd = preludeLength + message.readUInt32BE(4);
  return {
    headers: parseHeaders(message.subarray(preludeLength, headersEnd)),
    body: message.toString("utf8", headersEnd, end),
  };
}

/** Bytes after the type of a header's value; for type 6 (bytes) and 7 (text) a length of two bytes comes first. */
const valueLengths: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };
const textType = 7;

/** Only headers with a text are kept: no other says what a message is. */
function parseHeaders(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  try {
    for (let at = 0; at < bytes.length; ) {
      const nameEnd = at + 1 + bytes.readUInt8(at);
      const name = bytes.toString("utf8", at + 1, nameEnd);
      const type = bytes.readUInt8(nameEnd);
      const fixed = valueLengths[type];
      const valueStart = nameEnd + (fixed === undefined ? 3 : 1);
      const valueEnd = valueStart + (fixed ?? bytes.readUInt16BE(nameEnd + 1));
      if (type > 9 || valueEnd > bytes.length) throw new RangeError(`type ${type}`);
      if (type === textType) headers.set(name, bytes.toString("utf8", valueStart, valueEnd));
      at = valueEnd;
    }
  } catch (cause) {
    throw broken("has a message whose headers cannot be read", cause);
  }
  return headers;
}

function toPayloads({ headers, body }: Message): Payload[] {
  const type = headers.get(":message-type");
  if (type === "exception") throw exceptionError(headers.get(":exception-type") ?? "an unnamed exception", body);
  if (type === "error") {
    const said = [headers.get(":error-code"), headers.get(":error-message")].filter(Boolean).join(": ");
    throw new RuntimeError("provider-unavailable", `Amazon Bedrock broke off its answer with ${redact(said) || "an error"}`, {
      retryable: true,
    });
  }
  if (headers.get(":event-type") !== "chunk") return [];
  const bytes = fieldOf(body, "bytes");
  // Bedrock always wraps; servers that stand in for it do not all know.
  return [{ event: undefined, data: bytes === undefined ? body : Buffer.from(bytes, "base64").toString("utf8") }];
}

const exceptions: Readonly<Record<string, { code: ErrorCode; retryable: boolean }>> = {
  throttlingException: { code: "provider-rate-limit", retryable: true },
  modelTimeoutException: { code: "provider-timeout", retryable: true },
  serviceUnavailableException: { code: "provider-overloaded", retryable: true },
  accessDeniedException: { code: "provider-auth", retryable: false },
  validationException: { code: "provider-bad-request", retryable: false },
};

/** An error the server reports after it had begun to answer. */
function exceptionError(type: string, body: string): RuntimeError {
  const known = exceptions[type] ?? { code: "provider-unavailable", retryable: true };
  const said = fieldOf(body, "message") ?? fieldOf(body, "Message") ?? excerpt(body);
  const code = known.code === "provider-bad-request" && isContextOverflow(said) ? "context-overflow" : known.code;
  const message = `Amazon Bedrock broke off its answer with ${type}${said ? `: ${redact(said)}` : ""}`;
  return new RuntimeError(code, message, { retryable: known.retryable });
}

/** Bedrock's own words, and those of the models behind it. */
export function isContextOverflow(message: string): boolean {
  return /(input|prompt) is too long|too many (input )?tokens|exceeds? the (maximum )?context/i.test(message);
}

function fieldOf(body: string, name: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const field = typeof value === "object" && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
    return typeof field === "string" ? field : undefined;
  } catch {
    return undefined;
  }
}

function broken(what: string, cause?: unknown): RuntimeError {
  return new RuntimeError("provider-protocol", `Amazon Bedrock's event stream ${what}`, { retryable: true, cause });
}
