/** A place where a part of a known text stands, and what that text is called. */
export type PiecePlace = { readonly start: number; readonly end: number; readonly name: string };

/** So long is a part that is hidden; shorter ones could be anything. */
const leastPiece = 16;
const gramLength = 8;
/** Every part of sixteen characters has eight that begin at one of these places; so has a text that is wrapped after eight or more. */
const stride = 7;
/** Characters that are remembered: some forty private keys. What comes later is only known as a whole. */
const maxRemembered = 64 * 1024;
/** The beginnings of keys look alike. */
const maxPlacesOfGram = 8;

/**
 * Finds parts of known texts wherever those are cut: line by line, wrapped anew, with numbers or signs before each line.
 * All eight characters that stand together in a known text are listed; of a text only every seventh place is looked up.
 */
export class SecretPieces {
  #all = "";
  readonly #names: { readonly from: number; readonly name: string }[] = [];
  readonly #grams = new Map<string, number[]>();
  readonly #marked = new Uint8Array(1 << 16);

  /** How much is remembered; only grows. */
  get size(): number {
    return this.#all.length;
  }

  /** The parts of `text` that look made up by a machine; words of it are not remembered. */
  add(text: string, name: string): void {
    for (const [token] of text.matchAll(/[^\s"'`\\]{16,}/g)) if (looksRandom(token)) this.#addToken(token, name);
  }

  #addToken(token: string, name: string): void {
    if (this.#all.length + token.length > maxRemembered || this.#all.includes(token)) return;
    const from = this.#all.length;
    this.#names.push({ from, name });
    this.#all += `${token}\n`;
    for (let at = 0; at + gramLength <= token.length; at++) {
      const gram = token.slice(at, at + gramLength);
      const places = this.#grams.get(gram);
      if (!places) this.#grams.set(gram, [from + at]);
      else if (places.length < maxPlacesOfGram) places.push(from + at);
      this.#marked[hashAt(token, at)] = 1;
    }
  }

  /** In the order of the text, and none overlaps another. */
  find(text: string, from: number): PiecePlace[] {
    const found: PiecePlace[] = [];
    if (this.#all === "") return found;
    const last = text.length - gramLength;
    for (let at = Math.max(0, from - leastPiece); at <= last; at += stride) {
      if (this.#marked[hashAt(text, at)] === 0) continue;
      const place = this.#around(text, at);
      if (!place || place.end <= from) continue;
      const start = Math.max(place.start, from, found.at(-1)?.end ?? 0);
      if (start < place.end) found.push({ ...place, start });
      at = Math.max(at, place.end - stride);
    }
    return found;
  }

  #around(text: string, at: number): PiecePlace | undefined {
    let best: { start: number; end: number; known: number } | undefined;
    for (const known of this.#grams.get(text.slice(at, at + gramLength)) ?? []) {
      const start = this.#back(text, at, known);
      const end = this.#forth(text, at + gramLength, known + gramLength);
      if (!best || end - start > best.end - best.start) best = { start, end, known };
    }
    if (!best) return undefined;
    const { start, end, known } = best;
    const piece = text.slice(start, end).replace(lineBreaks, "");
    if (piece.length < leastPiece || !looksRandom(piece)) return undefined;
    return { start, end, name: this.#names.findLast((entry) => entry.from <= known)?.name ?? "redacted" };
  }

  /** How far the known text goes on, also on the lines that follow. */
  #forth(text: string, from: number, known: number): number {
    let end = from;
    for (let at = from, place = known; place < this.#all.length && this.#all[place] !== "\n"; ) {
      if (text[at] === this.#all[place]) {
        end = ++at;
        place++;
        continue;
      }
      lineBreak.lastIndex = at;
      const found = lineBreak.exec(text);
      if (!found || text[lineBreak.lastIndex] !== this.#all[place]) break;
      at = lineBreak.lastIndex;
    }
    return end;
  }

  #back(text: string, from: number, known: number): number {
    let start = from;
    for (let at = from, place = known; place > 0 && this.#all[place - 1] !== "\n"; ) {
      if (at > 0 && text[at - 1] === this.#all[place - 1]) {
        start = --at;
        place--;
        continue;
      }
      const found = breakBefore.exec(text.slice(Math.max(0, at - longestBreak), at))?.[0];
      if (found === undefined || text[at - found.length - 1] !== this.#all[place - 1]) break;
      at -= found.length;
    }
    return start;
  }
}

/** A new line, perhaps escaped, with the number or the sign that stands before it when it is shown. */
const between = "(?:\\r?\\n|(?:\\\\r)?\\\\n)(?:[ \\t]{0,8}\\d{1,9}[\\t:|\\u2192-])?[ \\t+<>|-]{0,8}?";
const lineBreak = new RegExp(`${between}(?=[^\\s"'\`\\\\])`, "y");
const lineBreaks = new RegExp(between, "g");
const breakBefore = new RegExp(`${between}$`);
const longestBreak = 32;

function hashAt(text: string, at: number): number {
  const one = text.charCodeAt(at) * 31 + text.charCodeAt(at + 2);
  const two = text.charCodeAt(at + 4) * 31 + text.charCodeAt(at + 7);
  return (one * 521 + two) & 0xffff;
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
