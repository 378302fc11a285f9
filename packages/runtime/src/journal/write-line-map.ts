import { replaceFileSync } from "../util/replace-file.ts";
import { keepConversation } from "./kept-conversation.ts";
import { readIntactLines } from "./intact-lines.ts";
import { type MapHead, mapPathOf, mapVersion } from "./line-map.ts";
import { LineTable } from "./line-table.ts";
import { createStoredEvents } from "./stored-events.ts";

/** For the next one who goes on with this session. A map that cannot be written is none; the log does not need it. */
export function writeLineMap(path: string): void {
  const lines = new LineTable();
  try {
    const { bytes, end, chain, isWhole } = readIntactLines(path, lines);
    const columns = lines.columns();
    if (!isWhole || !columns) return; // what is damaged is mended first, and what is very long is read in pieces
    const { crc32 } = process.getBuiltinModule("node:zlib");
    const types = [...new Set(columns.types)];
    const numbers = new Map(types.map((type, number) => [type, number]));
    const head: MapHead = {
      ...{ format: 1, version: mapVersion, length: end, checksum: crc32(bytes.subarray(0, end)), crc: chain.crc },
      ...{ lines: lines.length, types, tasks: [...columns.ofTasks], referring: [...columns.referring] },
      ...{ ended: columns.endedStarts.length, open: [...columns.openCalls] },
    };
    const typeNumbers = columns.types.map((type) => numbers.get(type) ?? 0);
    const body = Uint32Array.from([...columns.ends, ...columns.headEnds, ...typeNumbers, ...columns.endedStarts.flat()]);
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
