import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";

/** Shorter values may stand in others by chance. */
const leastLength = 12;

/**
 * Takes keys out of what other processes can see of this one's environment. The kernel shows the variables a process was started with
 * to every process of the same user, in `/proc/PID/environ`, whatever becomes of them later: so the memory they stand in is
 * overwritten. This program goes on seeing all of them in `process.env`. Answers why not, where that cannot be done.
 */
export function withdrawKeys(names: readonly string[]): string | undefined {
  const values = names.flatMap((name) => process.env[name] ?? []).filter((value) => value !== "");
  if (values.length === 0 || process.platform !== "linux") return undefined;
  const isKey = (entry: string): boolean =>
    names.includes(entry.slice(0, entry.indexOf("="))) ||
    values.some((value) => value.length >= leastLength && entry.includes(value));
  process.env = { ...process.env }; // a plain object from now on: what it holds stands nowhere else
  try {
    overwrite(isKey);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `Commands can find the key for the model in /proc/${process.pid}/environ: it could not be overwritten there (${reason})`;
  }
}

function overwrite(isKey: (entry: string) => boolean): void {
  const [start, end] = environmentRange();
  const memory = openSync("/proc/self/mem", "r+");
  try {
    const bytes = Buffer.alloc(end - start);
    readSync(memory, bytes, 0, bytes.length, start);
    for (let at = 0; at < bytes.length; ) {
      const stop = bytes.indexOf(0, at);
      const entryEnd = stop === -1 ? bytes.length : stop;
      if (entryEnd > at && isKey(bytes.toString("utf8", at, entryEnd)))
        writeSync(memory, Buffer.alloc(entryEnd - at), 0, entryEnd - at, start + at);
      at = entryEnd + 1;
    }
  } finally {
    closeSync(memory);
  }
}

/** Where the kernel put the variables: fields 50 and 51 of what it tells about the process. */
function environmentRange(): [start: number, end: number] {
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [start, end] = [Number(fields[47]), Number(fields[48])];
  if (!(start > 0 && end > start)) throw new Error("the kernel does not tell where it is");
  return [start, end];
}
