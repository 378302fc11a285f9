/** Keeps the beginning of what a program prints, in bounded memory. */
export interface LimitedOutputCapture {
  append(chunk: string | Uint8Array): void;
  readonly truncated: boolean;
  toString(): string;
}

const defaultLimitBytes = 30_000;
const marker = "\n[output truncated]\n";

/** At most `limitBytes`, cut between two characters; then a line that says so, once. */
export function createLimitedOutputCapture(limitBytes: number = defaultLimitBytes): LimitedOutputCapture {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isCut = false;
  return {
    append(chunk) {
      if (isCut) return;
      const buffer = typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk);
      const room = limitBytes - bytes;
      isCut = buffer.length > room;
      const kept = isCut ? buffer.subarray(0, room) : buffer;
      chunks.push(kept);
      bytes += kept.length;
    },
    get truncated() {
      return isCut;
    },
    toString() {
      const all = Buffer.concat(chunks);
      return isCut ? all.subarray(0, wholeCharacters(all)).toString() + marker : all.toString();
    },
  };
}

/** How many of the bytes are whole characters. */
function wholeCharacters(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > 0 && start > bytes.length - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  const first = bytes[start] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + length > bytes.length ? start : bytes.length;
}
