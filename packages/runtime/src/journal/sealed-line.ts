import { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/events.ts";

/**
 * A line of the log is the event's JSON with one more field at its end: a CRC-32 of all bytes before it that starts from the CRC-32 of the
 * line before. So one field shows a changed byte as well as a line that is missing, doubled or out of place, and any JSON reader still
 * reads the line.
 */
export const journalVersion = 2;

/** Bytes of a line. Long texts are kept elsewhere, so that no line comes near; what is longer is no line of ours and is not held in memory. */
export const longestLine: number = 128 << 20;

const key = `,"crc":"`;
const keyBytes: Buffer = Buffer.from(key);
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

/** `repeated`: a whole event of a log without checksums that was there already. */
export type ReadLine = { type: "event"; event: AgentEvent; chain: Chain } | { type: "repeated" } | { type: "damaged" };

/** `line` is without its LF. `gap`: what stands directly before it in the file is no event. */
export function readLine(line: Buffer, chain: Chain, gap: boolean): ReadLine {
  const bytes = line.at(-1) === 13 ? line.subarray(0, -1) : line; // an editor may have turned LF into CRLF
  const bodyEnd = bytes.length - sealLength;
  if (bodyEnd <= 0 || bytes.compare(keyBytes, 0, key.length, bodyEnd, bodyEnd + key.length) !== 0)
    return readPlain(bytes, chain, gap);
  const { crc32 } = process.getBuiltinModule("node:zlib");
  const crc = crc32(bytes.subarray(0, bodyEnd), chain.crc);
  if (bytes.toString("latin1", bodyEnd + key.length) !== `${toHex(crc)}"}`) return { type: "damaged" };
  const event = parseEvent(withBrace(bytes, bodyEnd));
  return event ? { type: "event", event, chain: { crc, sealed: true, seq: event.seq } } : { type: "damaged" };
}

/** The JSON before the checksum, closed: the brace is in the line's own bytes for that moment, as a log has very many lines to copy. */
function withBrace(bytes: Buffer, end: number): string {
  const held = bytes[end] ?? 0;
  bytes[end] = 0x7d;
  const text = bytes.toString("utf8", 0, end + 1);
  bytes[end] = held;
  return text;
}

/** Logs of version 1 have no checksums; a version 2 writer that resumes one goes on with sealed lines. */
function readPlain(bytes: Buffer, chain: Chain, gap: boolean): ReadLine {
  const event = chain.sealed ? undefined : parseEvent(bytes.toString("utf8"));
  if (!event || "crc" in event || (chain.seq === 0 && !startsOldLog(event))) return { type: "damaged" };
  if (event.seq <= chain.seq) return { type: "repeated" };
  // Numbers of events that are never stored leave holes; only without one it is sure that the gap holds no event.
  if (gap && event.seq !== chain.seq + 1) return { type: "damaged" };
  return { type: "event", event, chain: { ...chain, seq: event.seq } };
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

function toHex(crc: number): string {
  return (0x1_0000_0000 + crc).toString(16).slice(1);
}
