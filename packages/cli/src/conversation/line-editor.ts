import type { Key } from "../terminal/keys.ts";
import { widthOf } from "../terminal/text-width.ts";

/** Lines on a screen, and where the cursor stands in them. */
export type Laid = { readonly lines: readonly string[]; readonly row: number; readonly column: number };

/** A text that somebody writes, of one line or several, with the texts that were written before. */
export class LineEditor {
  text = "";
  /** Where the next letter goes: an index into `text`. */
  cursor = 0;
  readonly #past: string[];
  /** Which earlier text is shown; past the last one it is the draft. */
  #place: number;
  #draft = "";

  constructor(past: readonly string[] = []) {
    this.#past = [...past];
    this.#place = this.#past.length;
  }

  /** False when the key means nothing here. */
  press(key: Key): boolean {
    if (key.type !== "named") return this.#insert(key.text);
    const edit = edits[key.name];
    if (edit) {
      Object.assign(this, edit(this));
      return true;
    }
    if (key.name === "new-line") return this.#insert("\n");
    if (key.name === "up") return this.#moveLine(-1) || this.#recall(-1);
    if (key.name === "down") return this.#moveLine(1) || this.#recall(1);
    return false;
  }

  set(text: string): void {
    this.text = text;
    this.cursor = text.length;
  }

  /** What was written, which is remembered; the next text begins empty. */
  take(): string {
    const { text } = this;
    if (text.trim() !== "" && this.#past.at(-1) !== text) this.#past.push(text);
    this.#place = this.#past.length;
    this.set("");
    return text;
  }

  /** Broken into lines of so many columns; what is masked shows as dots. */
  lay(columns: number, masked = false): Laid {
    const shown = masked ? "•".repeat(this.text.length) : this.text;
    const lines: string[] = [];
    let [line, width, row, column, index] = ["", 0, 0, 0, 0];
    const note = (): void => {
      if (index === this.cursor) [row, column] = [lines.length, width];
    };
    for (const character of shown) {
      note();
      const wide = character === "\n" ? 0 : widthOf(character);
      if (character === "\n" || width + wide > columns) {
        lines.push(line);
        [line, width] = ["", 0];
      }
      if (character !== "\n") line += character;
      width += wide;
      index += character.length;
    }
    note();
    return { lines: [...lines, line], row, column };
  }

  #insert(text: string): boolean {
    this.text = this.text.slice(0, this.cursor) + text + this.text.slice(this.cursor);
    this.cursor += text.length;
    return true;
  }

  #moveLine(step: -1 | 1): boolean {
    const start = lineStart(this);
    const column = this.cursor - start;
    if (step === -1 && start === 0) return false;
    const end = lineEnd(this);
    if (step === 1 && end === this.text.length) return false;
    this.cursor = step === -1 ? start - 1 : end + 1;
    const from = lineStart(this);
    this.cursor = Math.min(from + column, lineEnd(this));
    return true;
  }

  #recall(step: -1 | 1): boolean {
    const place = this.#place + step;
    if (place < 0 || place > this.#past.length) return false;
    if (this.#place === this.#past.length) this.#draft = this.text;
    this.#place = place;
    this.set(this.#past[place] ?? this.#draft);
    return true;
  }
}

type Edited = { readonly text: string; readonly cursor: number };

/** What keys make of a text. */
const edits: Readonly<Record<string, (now: Edited) => Partial<Edited>>> = {
  left: (now) => ({ cursor: before(now) }),
  right: (now) => ({ cursor: after(now) }),
  home: (now) => ({ cursor: lineStart(now) }),
  end: (now) => ({ cursor: lineEnd(now) }),
  "ctrl-a": (now) => ({ cursor: lineStart(now) }),
  "ctrl-e": (now) => ({ cursor: lineEnd(now) }),
  "ctrl-b": (now) => ({ cursor: before(now) }),
  "ctrl-f": (now) => ({ cursor: after(now) }),
  "word-left": (now) => ({ cursor: wordBefore(now) }),
  "word-right": ({ text, cursor }) => ({ cursor: cursor + (/^\W*\w*/u.exec(text.slice(cursor))?.[0].length ?? 0) }),
  backspace: (now) => cut(now, before(now), now.cursor),
  delete: (now) => cut(now, now.cursor, after(now)),
  "delete-word": (now) => cut(now, wordBefore(now), now.cursor),
  "ctrl-u": (now) => cut(now, lineStart(now), now.cursor),
  "ctrl-k": (now) => cut(now, now.cursor, lineEnd(now)),
};

function cut({ text }: Edited, from: number, to: number): Edited {
  return { text: text.slice(0, from) + text.slice(to), cursor: from };
}

const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** One letter is what a person sees as one: with its accents, and emoji with all their parts. */
function before({ text, cursor }: Edited): number {
  const [last] = [...letters.segment(text.slice(0, cursor))].slice(-1);
  return cursor - (last?.segment.length ?? 0);
}

function after({ text, cursor }: Edited): number {
  const [first] = letters.segment(text.slice(cursor));
  return cursor + (first?.segment.length ?? 0);
}

function wordBefore({ text, cursor }: Edited): number {
  return cursor - (/\S*\s*$/u.exec(text.slice(0, cursor))?.[0].length ?? 0);
}

function lineStart({ text, cursor }: Edited): number {
  return text.lastIndexOf("\n", cursor - 1) + 1;
}

function lineEnd({ text, cursor }: Edited): number {
  const end = text.indexOf("\n", cursor);
  return end === -1 ? text.length : end;
}
