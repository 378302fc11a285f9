import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { readIntactLines } from "./intact-lines.ts";
import { LineTable } from "./line-table.ts";
import { type FileLine, readFileLines } from "./read-file-lines.ts";
import { shortStartVersion } from "./repeated-starts.ts";
import { type Chain, crcOf, keepLine, readLine, type StoredLine, toEvent } from "./sealed-line.ts";
import { codeOf, toStorageFailure } from "./storage-failure.ts";

/** A log as far as it can be trusted. Side files are not put back yet. */
export type Recovered = {
  lines: LineTable;
  /** How many lines had to be read one by one. */
  unmapped: number;
  /** Where the next line goes: the end of the last good one. */
  validBytes: number;
  /** The last good line has lost its line end. */
  unterminated: boolean;
  chain: Chain;
  /** What was passed over between good lines, in a sentence each. */
  warnings: string[];
  /** What follows the last good line. `torn`: only the beginning of a line, as a cut-off write leaves it. */
  tail: { type: "none" } | { type: "torn" | "damaged"; bytes: number; line: number };
};

export const emptyChain: Chain = { crc: 0, sealed: false, seq: 0 };

/**
 * Reads a log up to the last event that provably follows from the one before; never rejects because of what the file holds.
 * A damaged line is passed over if the next event shows that nothing was lost with it; else it is where the log ends.
 * An unknown session is an empty one.
 */
export async function recover(path: string): Promise<Recovered> {
  const lines = new LineTable();
  const { end, chain, isWhole, mapped } = readIntactLines(path, lines);
  for (let index = mapped; index < lines.length; index++)
    if (lines.typeAt(index) === "session.started") refuseNewer(lines.lineAt(index));
  const position = { offset: end, chain, line: lines.length };
  const scan = isWhole
    ? createProgress(position, () => {}).end()
    : await scanLog(path, position, (line) => lines.add(keepLine(line)));
  lines.settle();
  return { lines, unmapped: lines.length - mapped, ...scan };
}

/** A log that was just written, of these lines. */
export function wholeLog(lines: LineTable, size: number): Recovered {
  const last = lines.lineAt(lines.length - 1);
  const chain = { crc: last ? crcOf(last) : 0, sealed: last !== undefined, seq: lines.seqAt(lines.length - 1) };
  return { lines, unmapped: lines.length, validBytes: size, unterminated: false, chain, warnings: [], tail: { type: "none" } };
}

/** `line`: how many stand before it, for a person who reads of damage. */
export type LogPosition = { offset: number; chain: Chain; line?: number };
export type Scanned = Omit<Recovered, "lines" | "unmapped">;
type OnLine = (line: StoredLine) => void;

/** The same from a known place on, without keeping what it reads. */
export async function scanLog(path: string, from: LogPosition, onLine: OnLine): Promise<Scanned> {
  const file = await openIfThere(path);
  const progress = createProgress(from, onLine);
  if (!file) return progress.end();
  try {
    await readFileLines(file, from.offset, progress.add);
    return progress.end();
  } catch (error) {
    throw toStorageFailure("read", path, error);
  } finally {
    await file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw toStorageFailure("read", path, error);
  }
}

type Damage = { line: number; bytes: number };

function createProgress(from: LogPosition, onLine: OnLine): { add(line: FileLine): void; end(): Scanned } {
  let { chain } = from;
  let lines = from.line ?? 0;
  let end = from.offset;
  let validBytes = from.offset;
  let unterminated = false;
  let openDamage: (Damage & { torn: boolean }) | undefined; // since the last good line
  let repeated = 0;
  const passedOver: Damage[] = [];

  const add = (line: FileLine): void => {
    lines++;
    end = line.end;
    const bytes = line.bytes && line.start === 0 ? withoutByteOrderMark(line.bytes) : line.bytes;
    if (bytes && isBlank(bytes)) return;
    const read = bytes && readLine(bytes, chain, openDamage !== undefined);
    if (read?.type === "repeated") return void repeated++;
    if (!bytes || read?.type !== "event") {
      const length = line.end - line.start;
      if (openDamage) openDamage = { ...openDamage, bytes: openDamage.bytes + length, torn: false };
      else openDamage = { line: lines, bytes: length, torn: !line.terminated && beginsLikeLine(bytes) };
      return;
    }
    if (openDamage) passedOver.push(openDamage);
    openDamage = undefined;
    chain = read.chain;
    validBytes = line.end;
    unterminated = !line.terminated;
    refuseNewer(read.line);
    onLine(read.line);
  };

  const finish = (): Scanned => ({
    validBytes,
    unterminated,
    chain,
    warnings: toWarnings(passedOver, repeated),
    tail: openDamage
      ? { type: openDamage.torn ? "torn" : "damaged", bytes: end - validBytes, line: openDamage.line }
      : { type: "none" },
  });
  return { add, end: finish };
}

/** What a write that was cut off leaves begins as every line does. Anything else was put there by somebody, and is kept. */
function beginsLikeLine(bytes: Buffer | undefined): boolean {
  return bytes === undefined || bytes[0] === 0x7b;
}

function toWarnings(passedOver: readonly Damage[], repeated: number): string[] {
  const warnings = passedOver
    .slice(0, 3)
    .map(({ line, bytes }) => `Passed over ${bytes} damaged bytes at line ${line} of the journal; no event was lost with them`);
  if (passedOver.length > 3) warnings.push(`The same at ${passedOver.length - 3} more places of the journal`);
  if (repeated > 0) warnings.push(`Passed over ${repeated} lines of the journal that repeat earlier ones`);
  return warnings;
}

/** For a person: what is missing at the end of the log, and where it was kept. */
export function describeTail(tail: Recovered["tail"], keptIn: string | undefined): string[] {
  if (tail.type === "none") return [];
  if (tail.type === "torn") return [`Dropped ${tail.bytes} bytes at the end of the journal: a write that was cut off`];
  const place = keptIn === undefined ? "" : `; they are kept in ${basename(keptIn)}`;
  return [`Dropped the last ${tail.bytes} bytes of the journal, which is damaged from line ${tail.line} on${place}`];
}

/** A format we do not know must not be mended or appended to. */
function refuseNewer(line: StoredLine | undefined): void {
  if (line?.type !== "session.started" || knownVersions.some((version) => says(line, version))) return;
  const event = toEvent(line);
  const version: unknown = event.type === "session.started" && event.journalVersion;
  if (typeof version !== "number" || version <= shortStartVersion) return;
  throw new RuntimeError(
    "storage-failed",
    `The journal of ${event.sessionId} has format ${version}; this version knows formats up to ${shortStartVersion}`,
    { hint: "Open it with the newer version it was written by" },
  );
}

const knownVersions = Array.from({ length: shortStartVersion }, (_, index) =>
  Buffer.from(`"journalVersion":${index + 1},"resumed":`),
);

/** As we write it, and as no text inside the line could be written: a start is long, and need not be parsed for this. */
function says({ bytes, start, end }: StoredLine, words: Buffer): boolean {
  return bytes.subarray(start, end).includes(words);
}

function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function isBlank(bytes: Buffer): boolean {
  if (bytes[0] === 0x7b) return false; // most lines, and there are very many
  return bytes.every((byte) => byte === 32 || byte === 13 || byte === 9);
}
