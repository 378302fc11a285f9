import type { FindKnown, KnownPlace } from "./secret-texts.ts";

/** So few bytes are not looked for. */
export const leastHexBytes: number = 8;
const leastDigits = leastHexBytes * 2;
/** So many characters may stand between two digits. */
const longestGap = 8;

/** Finds more than whole values among bytes, one character each: parts of them, and the beginning of a private key. */
export type FindParts = (bytes: string) => Iterable<KnownPlace>;

/** Where known values are written in hexadecimal digits: in the order of the text, and none overlaps another. `known` finds their bytes, one character each. */
export function findInHex(known: FindKnown, text: string, from: number, parts: FindParts = () => []): KnownPlace[] {
  const places: KnownPlace[] = [];
  const all: FindParts = function* (bytes) {
    for (let hit = known(bytes, 0); hit; hit = known(bytes, hit.end)) yield hit;
    yield* parts(bytes);
  };
  for (let run = nextRun(text, from); run; run = nextRun(text, run.end)) {
    const { start, end } = run;
    const dumps = readers.map((read) => readDump(text, { start, end }, read));
    const found = [...inRun(all, text.slice(start, end), start), ...dumps.flatMap((dump) => [...inDump(all, dump)])];
    for (const place of found.sort((one, other) => one.start - other.start)) addPlace(places, place, from);
    run = { start, end: Math.max(end, ...dumps.map((dump) => dump.at(-1)?.end ?? 0)) };
  }
  return places;
}

function addPlace(places: KnownPlace[], place: KnownPlace, from: number): void {
  const last = places.at(-1);
  if (last && place.start < last.end) places[places.length - 1] = { ...last, end: Math.max(last.end, place.end) };
  else if (place.end > from) places.push({ ...place, start: Math.max(place.start, from) });
}

/** Is there anything in a text that could be bytes? Quick, and false for nearly every text. */
export function mayHoldHex(text: string): boolean {
  return nextRun(text, 0) !== undefined;
}

type Run = { readonly start: number; readonly end: number };

/** Where so many digits stand together that they may be bytes. Nearly every text has no place to look at more closely. */
function nextRun(text: string, from: number): Run | undefined {
  stretch.lastIndex = from;
  for (let hit = stretch.exec(text); hit; hit = stretch.exec(text)) {
    const start = reach(text, hit.index, { step: -1, limit: from - 1 });
    const end = reach(text, hit.index, { step: 1, limit: text.length });
    if (digitsIn(text, start, end + 1) >= leastDigits) return { start, end: end + 1 };
    stretch.lastIndex = end + 1;
  }
  return undefined;
}

/** A digit, and as many characters of the two kinds behind it as there are at least in a run. */
const stretch = new RegExp(`[0-9a-fA-F][0-9a-fA-F \\t\\r\\n:,%\\\\xX-]{${leastDigits - 1}}`, "g");

/** The last digit of the run in this direction. */
function reach(text: string, probe: number, { step, limit }: { step: 1 | -1; limit: number }): number {
  let last = probe;
  for (let at = probe + step; at !== limit && Math.abs(at - last) <= longestGap; at += step) {
    const kind = kindAt(text, at);
    if (kind === 0) break;
    if (kind === 1) last = at;
  }
  return last;
}

/** More than enough is not counted. */
function digitsIn(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end && count < leastDigits; at++) if (kindAt(text, at) === 1) count++;
  return count;
}

/** 1 for a digit, 2 for what may stand between two bytes: `63 6f`, `63:6f`, `0x63, 0x6f`, `\x63\x6f`, `%63%6f`, new lines. */
function kindAt(text: string, at: number): number {
  return kinds[text.charCodeAt(at)] ?? 0;
}

const kinds = new Uint8Array(128);
for (const character of "0123456789abcdefABCDEF") kinds[character.charCodeAt(0)] = 1;
for (const character of " \t\r\n:,-%\\xX") kinds[character.charCodeAt(0)] = 2;

function* inRun(known: FindParts, text: string, offset: number): Generator<KnownPlace> {
  const digits = text.replace(marks, "");
  let places: number[] | undefined;
  for (const { first, last, name } of search(known, digits)) {
    places ??= placesOfDigits(text);
    yield { start: offset + (places[first] ?? 0), end: offset + (places[last] ?? text.length - 1) + 1, name };
  }
}

const marks = /0[xX]|[^0-9a-fA-F]+/g;

function placesOfDigits(text: string): number[] {
  const places: number[] = [];
  let at = 0;
  for (const mark of [...text.matchAll(marks), { index: text.length, 0: "" }]) {
    for (; at < mark.index; at++) places.push(at);
    at = mark.index + mark[0].length;
  }
  return places;
}

type DigitRange = { readonly first: number; readonly last: number; readonly name: string };

/** Where a byte begins is not known: at the first digit or at the second. */
function* search(known: FindParts, digits: string): Generator<DigitRange> {
  for (const shift of [0, 1]) {
    const bytes = Buffer.from(shift === 0 ? digits : digits.slice(1), "hex").toString("latin1");
    for (const { start, end, name } of known(bytes)) yield { first: shift + start * 2, last: shift + end * 2 - 1, name };
  }
}

/** From the first byte to the end of the line, which may have the same as text. */
type DumpLine = { readonly start: number; readonly end: number; readonly digits: string };

type ReadLine = (line: string) => { bytesAt: number; digits: string } | undefined;

/** The lines of a dump from the first one in this run on. */
function readDump(text: string, run: Run, read: ReadLine): DumpLine[] {
  const lines: DumpLine[] = [];
  for (let start = text.lastIndexOf("\n", run.start) + 1; start < text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found === -1 ? text.length : found;
    const line = end - start > longestLine ? undefined : read(text.slice(start, end));
    if (line) lines.push({ start: start + line.bytesAt, end, digits: line.digits });
    else if (lines.length > 0 || end >= run.end) break; // a word before the dump may end in letters that are digits, too
    start = end + 1;
  }
  return lines;
}

const longestLine = 512;
/** What is put before a line when it is shown: the name of its file and its number, and signs of a difference. */
const numbered = "[ \\t]{0,8}\\d{1,9}(?:\\u2192|[\\t:|-])";
const named = "[^\\s:][^\\t:]{0,255}?[:-](?:\\d{1,9}[:-])?";
const signs = "[ \\t+<>|-]{0,8}";
const offset = "(?::[ \\t]*| +)(?=[0-9a-fA-F]{2})";

/** Each line is read in every way: a number before it looks like the place in a file, and the other way round. */
const readers: readonly ReadLine[] = [
  ...dumpReaders(new RegExp(`^(?:${numbered})??[ \\t]{0,8}[0-9a-fA-F]{4,16}${offset}`)),
  ...dumpReaders(new RegExp(`^(?:${numbered}|${named})?${signs}[0-9a-fA-F]{6,16}${offset}`), /[:\t\u2192+<>|-]/),
  digitsReader(`(?:${numbered}|${named}|[ \\t]{0,4}[+<>|-])${signs}`),
];

/**
 * `hexdump -C` and `od -t x1z` put a sign before the text beside the bytes, `xxd` two spaces: and its text may hold the signs, as theirs may
 * have two spaces between bytes. What stands before the bytes has one of the `marks`.
 */
function dumpReaders(place: RegExp, marks?: RegExp): ReadLine[] {
  return [/[ \t]{1,64}[|>]/, / {2}/].map((beside) => dumpReader({ place, marks, beside }));
}

type DumpForm = { readonly place: RegExp; readonly marks: RegExp | undefined; readonly beside: RegExp };

function dumpReader({ place, marks, beside }: DumpForm): ReadLine {
  return (line) => {
    const found = place.exec(line)?.[0];
    if (found === undefined || (marks && !marks.test(found))) return undefined;
    const rest = line.slice(found.length);
    const end = rest.search(beside);
    const bytes = end === -1 ? rest : rest.slice(0, end);
    return /^[0-9a-fA-F \t]+$/.test(bytes) ? { bytesAt: found.length, digits: bytes.replace(/[ \t]+/g, "") } : undefined;
  };
}

/** Nothing but bytes behind a number or a sign: `xxd -p`, `xxd -i`, `od -A n`. */
function digitsReader(place: string): ReadLine {
  const wanted = new RegExp(`^${place}(?=(?:0[xX]|\\\\x|[0-9a-fA-F \\t\\r,])+$)`);
  return (line) => {
    const bytesAt = wanted.exec(line)?.[0].length;
    return bytesAt === undefined ? undefined : { bytesAt, digits: line.slice(bytesAt).replace(marks, "") };
  };
}

/** Lines that hold a part of a value are hidden whole. */
function* inDump(known: FindParts, lines: readonly DumpLine[]): Generator<KnownPlace> {
  if (lines.length === 0) return;
  for (const { first, last, name } of search(known, lines.map(({ digits }) => digits).join(""))) {
    let at = 0;
    for (const { start, end, digits } of lines) {
      if (at <= last && at + digits.length > first) yield { start, end, name };
      at += digits.length;
    }
  }
}
