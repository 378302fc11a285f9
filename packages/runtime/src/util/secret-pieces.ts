/** A place where a part of a known text stands, and what that text is called. */
export type PiecePlace = { readonly start: number; readonly end: number; readonly name: string };

/** So long is a part that is hidden; shorter ones could be anything. */
const leastPiece = 16;
const gramLength = 8;
/** Every part of sixteen characters has eight that begin at one of these places; so has a text that is wrapped after eight or more. */
const stride = 7;
/** Characters that are remembered, some forty private keys: a place fits into two bytes. What comes later is only known as a whole. */
const maxRemembered = 0xffff;
const maxHash = 0x10000;
/** So many places are looked at: the beginnings of keys look alike. */
const maxPlaces = 24;

/**
 * Finds parts of known texts wherever those are cut: line by line, wrapped anew, with numbers or signs before each line.
 * All eight characters that stand together in a known text are listed; of a text only every seventh place is looked up.
 */
export class SecretPieces {
  #all = "\n";
  readonly #names: { readonly from: number; readonly name: string }[] = [];
  /** By the hash of eight characters: the last place that has them, 0 for none. By place: the one before that has the same hash. */
  #tables: { readonly last: Uint16Array; readonly earlier: Uint16Array } | undefined;

  /** How much is remembered; only grows. */
  get size(): number {
    return this.#all.length;
  }

  /** The parts of `text` between spaces and quotes. */
  add(text: string, name: string): void {
    for (const token of text.split(/[\s"'`\\]+/)) this.#addToken(token, name);
  }

  #addToken(token: string, name: string): void {
    const from = this.#all.length;
    if (token.length < leastPiece || from + token.length >= maxRemembered || this.#all.includes(token)) return;
    this.#tables ??= { last: new Uint16Array(maxHash), earlier: new Uint16Array(maxRemembered) };
    const { last, earlier } = this.#tables;
    this.#names.push({ from, name });
    this.#all += `${token}\n`;
    for (let place = from; place <= from + token.length - gramLength; place++) {
      const hash = hashAt(token, place - from);
      earlier[place] = last[hash] ?? 0;
      last[hash] = place;
    }
  }

  /** In the order of the text, and none overlaps another. */
  find(text: string): readonly PiecePlace[] {
    const tables = this.#tables;
    if (!tables || text.length < leastPiece) return nothing;
    const found: PiecePlace[] = [];
    let floor = 0; // what stands before was looked at: no place is gone over again and again
    for (let at = 0; at <= text.length - gramLength; at += stride) {
      if (tables.last[hashAt(text, at)] === 0) continue;
      const best = this.#around(text, at, floor);
      if (!best) continue;
      const isFound = isPiece(text.slice(best.start, best.end).replace(lineBreaks, ""));
      if (isFound) found.push({ start: best.start, end: best.end, name: this.#nameAt(best.known) });
      floor = isFound ? best.end : at;
      at = Math.max(at, best.end - stride);
    }
    return found;
  }

  #nameAt(known: number): string {
    return this.#names.findLast(({ from }) => from <= known)?.name ?? "redacted";
  }

  /** The longest part of a known text that these eight characters stand in. */
  #around(text: string, at: number, floor: number): { start: number; end: number; known: number } | undefined {
    const gram = text.slice(at, at + gramLength);
    let best: { start: number; end: number; known: number } | undefined;
    let known = this.#tables?.last[hashAt(text, at)] ?? 0;
    for (let looked = 0; known > 0 && looked < maxPlaces; looked++, known = this.#tables?.earlier[known] ?? 0) {
      if (!this.#all.startsWith(gram, known)) continue;
      const start = this.#back(text, { from: at, known, floor });
      const end = this.#forth(text, at + gramLength, known + gramLength);
      if (!best || end - start > best.end - best.start) best = { start, end, known };
    }
    return best;
  }

  /** How far the known text goes on, also on the lines that follow. */
  #forth(text: string, from: number, known: number): number {
    let end = from;
    for (let at = from, place = known; this.#all[place] !== "\n"; ) {
      if (text[at] === this.#all[place]) {
        end = ++at;
        place++;
        continue;
      }
      lineBreak.lastIndex = at;
      if (!lineBreak.test(text)) break;
      at = lineBreak.lastIndex;
      for (const limit = at + maxSigns; at < limit && text[at] !== this.#all[place] && signs.includes(text[at] ?? ""); ) at++;
      if (text[at] !== this.#all[place]) break;
    }
    return end;
  }

  #back(text: string, { from, known, floor }: { from: number; known: number; floor: number }): number {
    let start = from;
    for (let at = from, place = known - 1; at > floor && this.#all[place] !== "\n"; ) {
      if (text[at - 1] === this.#all[place]) {
        start = --at;
        place--;
        continue;
      }
      const found = breakBefore.exec(text.slice(Math.max(0, at - longestBreak), at))?.[0];
      if (found === undefined || text[at - found.length - 1] !== this.#all[place]) break;
      at -= found.length;
    }
    return start;
  }
}

const nothing: readonly PiecePlace[] = [];

/** A new line, perhaps escaped, with the number that stands before it when it is shown; signs of a difference may follow. */
const numbered = "(?:\\r?\\n|(?:\\\\r)?\\\\n)(?:[ \\t]{0,8}\\d{1,9}[\\t:|\\u2192-])?";
const signs = [..." \t+<>|-"];
const maxSigns = 8;
const lineBreak = new RegExp(numbered, "y");
const lineBreaks = new RegExp(numbered, "g");
const breakBefore = new RegExp(`${numbered}[ \\t+<>|-]{0,8}$`);
const longestBreak = 32;

/** Is this enough of a secret to be hidden where it stands alone? */
export function isPiece(text: string): boolean {
  return text.length >= leastPiece && looksRandom(text);
}

function hashAt(text: string, at: number): number {
  const one = text.charCodeAt(at) * 31 + text.charCodeAt(at + 2);
  const two = text.charCodeAt(at + 4) * 31 + text.charCodeAt(at + 7);
  return (one * 521 + two) % maxHash;
}

/** Do letters of either case and digits change so often as they do in no name, path or sentence? A capital before a small letter counts as one word. */
export function looksRandom(token: string): boolean {
  let changes = 0;
  let counted = 0;
  let before = 0;
  for (let at = 0; at < token.length; at++) {
    const kind = kindOf(token.charCodeAt(at));
    if (kind === 0) continue;
    if (counted++ > 0 && kind !== before && !(before === 2 && kind === 1)) changes++;
    before = kind;
  }
  return counted >= 10 && changes >= counted * 0.2;
}

/** 1 for a small letter, 2 for a capital, 3 for a digit. */
function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return 1;
  if (code >= 65 && code <= 90) return 2;
  return code >= 48 && code <= 57 ? 3 : 0;
}
