import { toSafeJson } from "../util/jsonl.ts";
import type { LineTable } from "./line-table.ts";
import { sealLength, writeSeal } from "./seal-lines.ts";
import { type StoredLine, toEvent } from "./sealed-line.ts";
import type { ForkOrigin } from "./store.ts";
import { forkEvent } from "./summary.ts";
import { crc32 } from "../util/crc32.ts";

export type ForkedLines = {
  readonly lines: LineTable;
  /** How many of them are copied. */
  readonly count: number;
  readonly sourceId: string;
  readonly newId: string;
  /** Gets the lines of the copy, so that it need not be read to be gone on with. */
  readonly copy: LineTable;
};

/** Bytes that are handed on at once, unless a single line is longer. */
const partSize: number = 1 << 20;

/**
 * The sealed lines of a fork, some at a time. They are those of the source to the byte but for the session's id, so that hardly any is
 * parsed: somebody waits for the fork of a long session.
 */
export function* forkLines({ lines, count, sourceId, newId, copy }: ForkedLines): Generator<Buffer> {
  const origin: ForkOrigin = { sessionId: sourceId, seq: lines.seqAt(count - 1) };
  const idBytes = Buffer.from(newId, "latin1");
  const room = idBytes.length + sealLength + 1;
  let isNoted = false; // the first start says where the fork comes from
  let crc = 0;
  let bytes = Buffer.allocUnsafeSlow(partSize);
  let end = 0;
  for (let index = 0; index < count; index++) {
    const stored = lines.lineAt(index);
    if (!stored) continue;
    const isFirst: boolean = !isNoted && stored.type === "session.started";
    isNoted ||= isFirst;
    const line = isFirst || stored.headEnd === 0 ? rewritten(stored, newId, isFirst ? origin : undefined) : stored;
    const longest = line.end - line.start + room;
    if (end + longest > bytes.length) {
      yield bytes.subarray(0, end);
      bytes = Buffer.allocUnsafeSlow(Math.max(partSize, longest));
      end = 0;
    }
    const start = end;
    end = copyLine(bytes, start, line, idBytes);
    crc = crc32(new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start), crc);
    const headEnd = line.headEnd === 0 ? 0 : end - (line.end - line.headEnd);
    copy.add({ bytes, start, end, type: line.type, isOfTask: line.isOfTask, headEnd, callId: undefined });
    end = writeSeal(crc, bytes, end);
  }
  copy.takeFindings(lines);
  yield bytes.subarray(0, end);
}

const idKey = Buffer.from(`","sessionId":"`);
const quote = 0x22;

/** Answers where the copy ends. The short beginning is copied byte by byte: a call for it takes longer. */
function copyLine(target: Buffer, at: number, { bytes, start, end, headEnd }: StoredLine, newId: Uint8Array): number {
  if (headEnd === 0) return at + bytes.copy(target, at, start, end);
  const idStart = bytes.indexOf(idKey, start) + idKey.length;
  let to = at;
  for (let from = start; from < idStart; from++) target[to++] = bytes[from] ?? 0;
  for (let from = 0; from < newId.length; from++) target[to++] = newId[from] ?? 0;
  let idEnd = idStart;
  while (bytes[idEnd] !== quote) idEnd++;
  return to + bytes.copy(target, to, idEnd, end);
}

/** For a line that does not begin as ours do, and for the one that has something to add. */
function rewritten(line: StoredLine, newId: string, origin: ForkOrigin | undefined): StoredLine {
  const bytes = Buffer.from(toSafeJson(forkEvent(toEvent(line), newId, origin)).slice(0, -1));
  return { ...line, bytes, start: 0, end: bytes.length, headEnd: 0 };
}
