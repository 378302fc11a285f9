import { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { KnownEvent } from "./stored-events.ts";

/**
 * A line of the log is the event's JSON with one more field at its end: a CRC-32 of all bytes before it that starts from the CRC-32 of the
 * line before. So one field shows a changed byte as well as a line that is missing, doubled or out of place, and any JSON reader still
 * reads the line.
 */
export const journalVersion = 2;

/** Bytes of a line. Long texts are kept elsewhere, so that no line comes near; what is longer is no line of ours and is not held in memory. */
export const longestLine: number = 128 << 20;

const key = `,"crc":"`;
const sealLength = key.length + 8 + `"}`.length;

/** Seals events after the line whose checksum is `previous`, 0 at the beginning. */
export function sealLines(jsons: readonly string[], previous: number): { bytes: Buffer; crc: number } {
  const { crc32 } = process.getBuiltinModule("node:zlib");
  const parts: Buffer[] = [];
  let crc = previous;
  for (const json of jsons) {
    const body = Buffer.from(json.slice(0, -1));
    if (body.length + sealLength > longestLine) throw tooLong(body.length);
    crc = crc32(body, crc);
    parts.push(body, Buffer.from(`${key}${toHex(crc)}"}\n`, "latin1"));
  }
  return { bytes: Buffer.concat(parts), crc };
}

function tooLong(bytes: number): RuntimeError {
  return new RuntimeError(
    "storage-failed",
    `An event of ${bytes} bytes does not fit into a journal, which takes up to ${longestLine}`,
  );
}

/** What is known after the lines so far. `sealed`: there was a line with a checksum, so that each later one must have it. */
export type Chain = { crc: number; sealed: boolean; seq: number };

/**
 * A line that is proven to be an event of ours. Few of a long log are ever looked at, so that each is parsed when it is. Its JSON, but for the
 * last brace, is in the bytes between two places.
 */
export type StoredLine = KnownEvent & {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
};

export function toEvent(line: StoredLine): AgentEvent {
  return parseStored(jsonOf(line)) as AgentEvent; // that it is one was found out when it was read
}

/** All at once, which takes half as long. */
export function toEvents(lines: readonly StoredLine[]): AgentEvent[] {
  return parseStored(`[${lines.map(jsonOf).join(",")}]`) as AgentEvent[]; // as above
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

function jsonOf({ bytes, start, end }: StoredLine): string {
  return `${bytes.toString("utf8", start, end)}}`;
}

/** With bytes of its own: those of a line that was just read are good until the next one. */
export function keepLine(line: StoredLine): StoredLine {
  const { bytes, start, end } = line;
  return { ...line, bytes: Buffer.from(bytes.subarray(start, end)), start: 0, end: end - start };
}

/** `repeated`: a whole event of a log without checksums that was there already. */
export type ReadLine = { type: "event"; line: StoredLine; chain: Chain } | { type: "repeated" } | { type: "damaged" };

/** `line` is without its LF. `gap`: what stands directly before it in the file is no event. */
export function readLine(line: Buffer, chain: Chain, gap: boolean): ReadLine {
  const end = line[line.length - 1] === 13 ? line.length - 1 : line.length; // an editor may have turned LF into CRLF
  const sealed = readSealed({ bytes: line, text: line.toString("latin1") }, { start: 0, end, previous: chain.crc });
  if (sealed === "unsealed") return readPlain(line.subarray(0, end), chain, gap);
  if (sealed === "damaged") return { type: "damaged" };
  return { type: "event", line: sealed.line, chain: { crc: sealed.crc, sealed: true, seq: sealed.line.seq } };
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
  crc32 ??= process.getBuiltinModule("node:zlib").crc32;
  const crc = crc32(bytes.subarray(start, bodyEnd), previous);
  if (text.slice(bodyEnd, end) !== `${key}${toHex(crc)}"}`) return "damaged";
  const line = toStoredLine({ bytes, text }, start, bodyEnd);
  return line ? { line, crc } : "damaged";
}

/** Looked up once, as it is asked for thousands of times. */
let crc32: typeof import("node:zlib").crc32 | undefined;

/** How our lines begin. A checksum vouches for the rest of a line that begins like this; any other is parsed to see what it is. */
const head =
  /\{"seq":(\d{1,15}),"at":"[^"\\]*","sessionId":"[^"\\]*"(?:,"turnId":"[^"\\]*")?(?:,"taskId":"([^"\\]*)")?,"type":"([a-z.-]+)"(?:,"callId":"([^"\\]*)")?/y;

function toStoredLine({ bytes, text }: LogBytes, start: number, end: number): StoredLine | undefined {
  head.lastIndex = start;
  const [, seq, taskId, type, callId] = head.exec(text) ?? [];
  if (seq !== undefined && type !== undefined) return { seq: Number(seq), type: nameOf(type), taskId, callId, bytes, start, end };
  const event = parseEvent(`${bytes.toString("utf8", start, end)}}`);
  return event && { ...knownOf(event), bytes, start, end };
}

/** Logs of version 1 have no checksums; a version 2 writer that resumes one goes on with sealed lines. */
function readPlain(bytes: Buffer, chain: Chain, gap: boolean): ReadLine {
  const event = chain.sealed ? undefined : parseEvent(bytes.toString("utf8"));
  if (!event || "crc" in event || (chain.seq === 0 && !startsOldLog(event))) return { type: "damaged" };
  if (event.seq <= chain.seq) return { type: "repeated" };
  // Numbers of events that are never stored leave holes; only without one it is sure that the gap holds no event.
  if (gap && event.seq !== chain.seq + 1) return { type: "damaged" };
  const line = { ...knownOf(event), bytes, start: 0, end: bytes.lastIndexOf(0x7d) };
  return { type: "event", line, chain: { ...chain, seq: event.seq } };
}

/** One string for each type: what is cut out of a text would hold all of it, and is slow to compare. */
function nameOf(type: string): string {
  const known = types.get(type);
  if (known !== undefined) return known;
  const own = Buffer.from(type).toString();
  types.set(own, own);
  return own;
}

const types = new Map<string, string>();

function knownOf(event: AgentEvent): KnownEvent {
  const { seq, type, taskId } = event;
  return { seq, type, taskId, callId: "callId" in event ? event.callId : undefined };
}

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

/** In two halves: small integers are written out much faster, and a long log has very many checksums. */
function toHex(crc: number): string {
  return (0x1_0000 + (crc >>> 16)).toString(16).slice(1) + (0x1_0000 + (crc & 0xffff)).toString(16).slice(1);
}
