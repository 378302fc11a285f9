import { RuntimeError } from "../protocol/errors.ts";
import { crc32 } from "../util/crc32.ts";

/** Bytes of a line. Long texts are kept elsewhere, so that no line comes near; what is longer is no line of ours and is not held in memory. */
export const longestLine: number = 128 << 20;

/**
 * A line of the log is the event's JSON with one more field at its end: a CRC-32 of all bytes before it that starts from the CRC-32 of the
 * line before. So one field shows a changed byte as well as a line that is missing, doubled or out of place, and any JSON reader still
 * reads the line.
 */
export const key = `,"crc":"`;
export const sealLength: number = key.length + 8 + `"}`.length;

/** Seals events after the line whose checksum is `previous`, 0 at the beginning. */
export function sealLines(jsons: readonly string[], previous: number): { bytes: Buffer; crc: number } {
  const parts: Buffer[] = [];
  let crc = previous;
  for (const json of jsons) {
    const body = Buffer.from(json.slice(0, -1));
    if (body.length + sealLength > longestLine) throw tooLong(body.length);
    crc = crc32(body, crc);
    const seal = Buffer.allocUnsafe(sealLength + 1);
    writeSeal(crc, seal, 0);
    parts.push(body, seal);
  }
  return { bytes: Buffer.concat(parts), crc };
}

const digits = Buffer.from("0123456789abcdef");
const before = Buffer.from(key);
const behind = Buffer.from(`"}\n`);

/** Writes what stands behind the body of a line; answers where it ends. By hand: a long log has very many of them. */
export function writeSeal(crc: number, bytes: Buffer, at: number): number {
  let to = at;
  for (let place = 0; place < before.length; place++) bytes[to++] = before[place] ?? 0;
  for (let shift = 28; shift >= 0; shift -= 4) bytes[to++] = digits[(crc >>> shift) & 15] ?? 0;
  for (let place = 0; place < behind.length; place++) bytes[to++] = behind[place] ?? 0;
  return to;
}

function tooLong(bytes: number): RuntimeError {
  return new RuntimeError(
    "storage-failed",
    `An event of ${bytes} bytes does not fit into a journal, which takes up to ${longestLine}`,
  );
}
