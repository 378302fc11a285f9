import { replaceFileSync } from "../util/replace-file.ts";
import { blockChecksums, blockSize } from "./checked-blocks.ts";
import { keepConversation } from "./kept-conversation.ts";
import { type IntactLines, readIntactLines } from "./intact-lines.ts";
import { type MapHead, mapFormat, mapPathOf, mapVersion } from "./line-map.ts";
import { LineTable } from "./line-table.ts";
import { createStoredEvents } from "./stored-events.ts";
import { crc32 } from "../util/crc32.ts";

/** For the next one who goes on with this session. A map that cannot be written is none; the log does not need it. */
export function writeLineMap(path: string): void {
  const lines = new LineTable();
  try {
    const read = readIntactLines(path, lines);
    if (!read.isWhole) return; // what is damaged is mended first, and what is very long is read in pieces
    const columns = lines.columns(read.end - read.rest.length);
    const head: MapHead = {
      ...{ format: mapFormat, version: mapVersion, length: read.end, checksums: checksumsOf(read), crc: read.chain.crc },
      ...{ lines: lines.length, types: [...columns.names], tasks: [...columns.ofTasks], referring: [...columns.referring] },
      ...{ ended: columns.endedStarts.length, open: [...columns.openCalls] },
    };
    const body = Uint32Array.from([...columns.ends, ...columns.headEnds, ...columns.types, ...columns.endedStarts.flat()]);
    // Long texts are in files of their own, and stay there.
    const kept = columns.referring.length > 0 ? undefined : keepConversation(createStoredEvents(lines));
    const map = Buffer.concat([
      Buffer.from(`${JSON.stringify(head)}\n`),
      new Uint8Array(body.buffer),
      Buffer.from(kept ? JSON.stringify(kept) : ""),
    ]);
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE(crc32(map));
    replaceFileSync(mapPathOf(path), Buffer.concat([map, checksum]));
  } catch {
    // The next one who comes reads the log.
  }
}

/** Of the bytes that were read, and not of what the file may hold by now: those of whole blocks are known already. */
function checksumsOf({ blocks, rest, end }: IntactLines): number[] {
  const mapped = end - rest.length;
  const whole = mapped - (mapped % blockSize);
  const begun = blocks?.read(whole, mapped) ?? Buffer.alloc(0);
  return [...(blocks?.checksums.slice(0, whole / blockSize) ?? []), ...blockChecksums(Buffer.concat([begun, rest]))];
}
