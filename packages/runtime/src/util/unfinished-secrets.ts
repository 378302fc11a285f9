import { mayHoldHex } from "./hex-secrets.ts";
import { type Beginning, type KnownSecrets, shortBeginning, startsWord } from "./known-secrets.ts";
import type { FindKnown } from "./secret-texts.ts";

/** Longer than any secret but a private key; a text that goes on as one word for longer is handed out. */
const maxUnsettled = 16 * 1024;

export function isPlainPiece(
  { triggers, exact, nameOf, beginnings, long, pieces, met }: KnownSecrets,
  before: string,
  piece: string,
): boolean {
  const text = before.slice(-shortBeginning) + piece;
  triggers.lastIndex = 0;
  if (triggers.test(text) || openValueIn(long, piece) !== 0) return false;
  if (nameOf.size !== 0 && mayHoldHex(piece)) return false;
  if (endOf(beginnings, piece, 0) !== 0) return false; // a word that goes on from the piece before may be one in vain
  if (met.find(piece).length !== 0 || pieces.find(piece).length !== 0) return false;
  return exact(text, 0) === undefined;
}

export function unsettledIn(known: KnownSecrets, text: string): number {
  let settled = 0;
  known.triggers.lastIndex = Math.max(0, text.length - maxUnsettled);
  for (let hit = known.triggers.exec(text); hit; hit = known.triggers.exec(text)) {
    const { index } = hit;
    const rest = text.slice(index + hit[0].length);
    const shapes = known
      .shapesOf(hit[0])
      .filter((shape) => shape.isCertain !== undefined || startsWord(text, index, shape.notAfter));
    if (shapes.some(({ open }) => open.test(rest))) return text.length - index;
    for (const shape of shapes) {
      const found = shape.find(text, index);
      if (found?.kind !== undefined) settled = Math.max(settled, found.end);
    }
  }
  const length = Math.max(endOf(known.beginnings, text, settled), openValueIn(known.long, text));
  return length !== 0 && isInKnownValue(known.exact, text, text.length - length) ? 0 : length;
}

/** How much of the end of the text is the beginning of a long value. */
function openValueIn(long: KnownSecrets["long"], text: string): number {
  for (const { head, value } of long) {
    const start = text.lastIndexOf(head);
    if (start !== -1 && text.length - start < value.length && value.startsWith(text.slice(start))) return text.length - start;
  }
  return 0;
}

/** How long the longest beginning is with which the text ends, if that is not before `from`. */
function endOf(beginnings: KnownSecrets["beginnings"], text: string, from: number): number {
  return Math.max(longest(beginnings(text.slice(-2)), text, from), longest(beginnings(text.slice(-1)), text, from));
}

function longest(beginnings: readonly Beginning[], text: string, from: number): number {
  let length = 0;
  for (const { text: beginning, notAfter } of beginnings) {
    const start = text.length - beginning.length;
    if (start >= from && text.endsWith(beginning) && startsWord(text, start, notAfter))
      length = Math.max(length, beginning.length);
  }
  return length;
}

function isInKnownValue(exact: FindKnown, text: string, at: number): boolean {
  for (let hit = exact(text, 0); hit && hit.start < at; hit = exact(text, hit.end)) if (hit.end > at) return true;
  return false;
}
