import { closeSync, openSync, readSync } from "node:fs";

/** A random UUID. Straight from the kernel where that is possible: loading `node:crypto` costs a tenth of a start. */
export function randomUuid(): string {
  const bytes = randomBytes();
  if (!bytes) return process.getBuiltinModule("node:crypto").randomUUID();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40; // version 4
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80; // the variant of RFC 9562
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

const uuidLength = 16;
/** For some ids at once; what is handed out is not used again. */
let pool: Buffer = Buffer.alloc(0);

function randomBytes(): Buffer | undefined {
  if (pool.length < uuidLength) {
    const fresh = Buffer.alloc(16 * uuidLength);
    try {
      const source = openSync("/dev/urandom", "r");
      const read = readSync(source, fresh, 0, fresh.length, null);
      closeSync(source);
      if (read < fresh.length) return undefined;
      pool = fresh;
    } catch {
      return undefined;
    }
  }
  const bytes = pool.subarray(0, uuidLength);
  pool = pool.subarray(uuidLength);
  return bytes;
}

/**
 * Ids in the form of UUIDs from one random one: the last twelve digits count up. Unique wherever the first is,
 * at a fraction of the cost, for things that are numbered by the thousand.
 */
export function createIdSeries(first: string = randomUuid()): () => string {
  const prefix = first.slice(0, 24);
  lastDigits ??= Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
  const digits = lastDigits;
  let byte = Number.parseInt(first.slice(34), 16);
  let rest = Number.parseInt(first.slice(24, 34), 16);
  let beginning = first.slice(0, 34);
  // Writing out a number this long costs more than the rest of a frame: that is done for every 256th id.
  return () => {
    byte = (byte + 1) % 256;
    if (byte === 0) {
      rest = (rest + 1) % 2 ** 40;
      beginning = prefix + rest.toString(16).padStart(10, "0");
    }
    return beginning + digits[byte];
  };
}

let lastDigits: readonly string[] | undefined;
