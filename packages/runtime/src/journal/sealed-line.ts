import { crc32 } from "../util/crc32.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { key, sealLength } from "./seal-lines.ts";

/** What is known after the lines so far. `sealed`: there was a line with a checksum, so that each later one must have it. */
export type Chain = { crc: number; sealed: boolean; seq: number };

/**
 * A line that is proven to be an event of ours. Few of a long log are ever looked at, so that each is parsed when it is. Its JSON, but for the
 * last brace, is in the bytes between two places.
 */
export type StoredLine = {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly type: string;
  /** It tells of a subagent's work. */
  readonly isOfTask: boolean;
  /** Where the name of its type ends; 0 when it does not begin as our lines do. */
  readonly headEnd: number;
  /** Of which call it tells, where it is the start or the end of one. */
  readonly callId: string | undefined;
};

export function toEvent(line: Pick<StoredLine, "bytes" | "start" | "end">): AgentEvent {
  return parseStored(jsonOf(line)) as AgentEvent; // that it is one was found out when it was read
}

/** All at once, which takes half as long. */
export function toEvents(jsons: readonly string[]): AgentEvent[] {
  return parseStored(`[${jsons.join(",")}]`) as AgentEvent[]; // as above
}

/** What is damaged was passed over before this; here somebody has sealed what is no event. */
function parseStored(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new RuntimeError("storage-failed", "The journal has a line with the right checksum that is no JSON", {
      cause: error,
      hint: "It was not written by this program: restore the file, or cut it off before that line",
    });
  }
}

export function jsonOf({ bytes, start, end }: Pick<StoredLine, "bytes" | "start" | "end">): string {
  return `${bytes.toString("utf8", start, end)}}`;
}

/** Read off the line where it begins as ours do. */
export function seqOf(line: StoredLine): number {
  const head = line.headEnd === 0 ? undefined : line.bytes.toString("latin1", line.start + 7, line.start + 23); // behind `{"seq":`
  return head === undefined ? toEvent(line).seq : Number.parseInt(head, 10);
}

/** The checksum that stands behind a line which was not taken out of its log. */
export function crcOf({ bytes, end }: StoredLine): number {
  return Number.parseInt(bytes.toString("latin1", end + key.length, end + key.length + 8), 16);
}

/** When the event happened. */
export function timeOf(line: StoredLine): string {
  const head = line.headEnd === 0 ? undefined : line.bytes.toString("latin1", line.start, line.headEnd);
  return head === undefined ? toEvent(line).at : head.slice(head.indexOf(atKey) + atKey.length, head.indexOf(sessionKey));
}

const atKey = `,"at":"`;
const sessionKey = `","sessionId":"`;

/** With bytes of its own: those of a line that was just read are good until the next one. */
export function keepLine(line: StoredLine): StoredLine {
  const { bytes, start, end } = line;
  const headEnd = line.headEnd === 0 ? 0 : line.headEnd - start;
  return { ...line, bytes: Buffer.from(bytes.subarray(start, end)), start: 0, end: end - start, headEnd };
}

/** `repeated`: a whole event of a log without checksums that was there already. */
export type ReadLine = { type: "event"; line: StoredLine; chain: Chain } | { type: "repeated" } | { type: "damaged" };

/** `line` is without its LF. `gap`: what stands directly before it in the file is no event. */
export function readLine(line: Buffer, chain: Chain, gap: boolean): ReadLine {
  const end = line[line.length - 1] === 13 ? line.length - 1 : line.length; // an editor may have turned LF into CRLF
  const sealed = readSealed({ bytes: line, text: line.toString("latin1") }, { start: 0, end, previous: chain.crc });
  if (sealed === "unsealed") return readPlain(line.subarray(0, end), chain, gap);
  if (sealed === "damaged") return { type: "damaged" };
  return { type: "event", line: sealed.line, chain: { crc: sealed.crc, sealed: true, seq: seqOf(sealed.line) } };
}

export type SealedLine = { readonly line: StoredLine; readonly crc: number };

/** Bytes, and the same with a character for each byte: a string is searched much faster. */
export type LogBytes = { readonly bytes: Buffer; readonly text: string };

/** The line between two places, if its checksum shows that it is whole and follows from the one whose checksum is `previous`. */
export function readSealed(
  { bytes, text }: LogBytes,
  { start, end, previous }: { start: number; end: number; previous: number },
): SealedLine | "unsealed" | "damaged" {
  const bodyEnd = end - sealLength;
  if (bodyEnd <= start || !text.startsWith(key, bodyEnd)) return "unsealed";
  // A view made like this takes half as long as `subarray`, which is most of what a line takes.
  const crc = crc32(new Uint8Array(bytes.buffer, bytes.byteOffset + start, bodyEnd - start), previous);
  if (fromHex(text, bodyEnd + key.length) !== crc || !text.startsWith(`"}`, end - 2)) return "damaged";
  const line = toStoredLine({ bytes, text }, start, bodyEnd);
  return line ? { line, crc } : "damaged";
}

/** How our lines begin, up to the name of their type. A checksum vouches for the rest of such a line; any other is parsed to see what it is. */
const head = /\{"seq":\d{1,15},"at":"[^"\\]*","sessionId":"[^"\\]*"(?:,"turnId":"[^"\\]*")?,"type":"(?=[a-z.-]+")/y;
const headOfTask =
  /\{"seq":\d{1,15},"at":"[^"\\]*","sessionId":"[^"\\]*"(?:,"turnId":"[^"\\]*")?,"taskId":"[^"\\]*","type":"(?=[a-z.-]+")/y;

function toStoredLine({ bytes, text }: LogBytes, start: number, end: number): StoredLine | undefined {
  head.lastIndex = start;
  const isOwn = head.test(text);
  headOfTask.lastIndex = start;
  if (!isOwn && !headOfTask.test(text)) {
    const event = parseEvent(`${bytes.toString("utf8", start, end)}}`);
    return event && toLine(event, { bytes, start, end });
  }
  const nameStart = isOwn ? head.lastIndex : headOfTask.lastIndex;
  const headEnd = text.indexOf('"', nameStart);
  const type = nameOf(text.slice(nameStart, headEnd));
  const callId = type === "tool.started" || type === "tool.ended" ? callIdAt({ bytes, text }, headEnd, end) : undefined;
  return callId === false
    ? toLine(toEvent({ bytes, start, end }), { bytes, start, end })
    : { bytes, start, end, type, isOfTask: !isOwn, headEnd, callId };
}

const callKey = `","callId":"`;

/** False where it takes a parser to read. */
function callIdAt({ text }: LogBytes, headEnd: number, end: number): string | false {
  if (!text.startsWith(callKey, headEnd)) return false;
  const start = headEnd + callKey.length;
  const close = text.indexOf('"', start);
  const callId = text.slice(start, close);
  return close < end && plainCallId.test(callId) ? callId : false;
}

const plainCallId = /^[ !#-[\]-~]*$/;

/** A line whose event had to be parsed. */
function toLine(event: AgentEvent, place: Pick<StoredLine, "bytes" | "start" | "end">): StoredLine {
  const { type, taskId } = event;
  const callId = type === "tool.started" || type === "tool.ended" ? event.callId : undefined;
  return { ...place, type, isOfTask: taskId !== undefined, headEnd: 0, callId };
}

/** Logs of version 1 have no checksums; a version 2 writer that resumes one goes on with sealed lines. */
function readPlain(bytes: Buffer, chain: Chain, gap: boolean): ReadLine {
  const event = chain.sealed ? undefined : parseEvent(bytes.toString("utf8"));
  if (!event || "crc" in event || (chain.seq === 0 && !startsOldLog(event))) return { type: "damaged" };
  if (event.seq <= chain.seq) return { type: "repeated" };
  // Numbers of events that are never stored leave holes; only without one it is sure that the gap holds no event.
  if (gap && event.seq !== chain.seq + 1) return { type: "damaged" };
  const line = toLine(event, { bytes, start: 0, end: bytes.lastIndexOf(0x7d) });
  return { type: "event", line, chain: { ...chain, seq: event.seq } };
}

/** One string for each type: what is cut out of a text would hold all of it, and is slow to compare. */
export function nameOf(type: string): string {
  const known = types.get(type);
  if (known !== undefined) return known;
  const own = Buffer.from(type).toString();
  types.set(own, own);
  return own;
}

const types = new Map<string, string>();

/** Else a line of version 2 that has lost its checksum could pass for the beginning of an old log. */
function startsOldLog(event: AgentEvent): boolean {
  return event.type === "session.started" && event.journalVersion === 1;
}

function parseEvent(text: string): AgentEvent | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // The log is written by us alone: a line that has our envelope is one of our events.
    return isEnvelope(value) ? (value as AgentEvent) : undefined;
  } catch {
    return undefined;
  }
}

function isEnvelope(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return (
    "seq" in value && Number.isSafeInteger(value.seq) && "type" in value && typeof value.type === "string" && "sessionId" in value
  );
}

/** The checksum that is written out at a place; -1 where none is. By hand: a string for each of very many lines takes longer. */
function fromHex(text: string, at: number): number {
  let value = 0;
  for (let place = at; place < at + 8; place++) {
    const code = text.charCodeAt(place);
    const digit = code < 58 ? code - 48 : code - 87; // `0` is 48, `a` is 97
    if (digit < 0 || digit > 15 || (code >= 58 && digit < 10)) return -1;
    value = (value << 4) | digit;
  }
  return value >>> 0;
}
