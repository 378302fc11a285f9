/** A line, or the two ends of one that is too long to be held in memory. */
export type BoundedLine =
  | { readonly type: "line"; readonly text: string }
  /** `start` is the first part of it and `end` the last; `length` is how many characters it has. */
  | { readonly type: "oversized"; readonly start: string; readonly end: string; readonly length: number };

/** Characters of one line. An answer with several large images is shorter. */
export const maxLineLength: number = 16 * 1024 * 1024;
const keptEnd = 4_096;

/** Lines end at LF only, which stays out; the memory taken has a bound, however long a line gets. */
export async function* boundedLines(
  bytes: AsyncIterable<Uint8Array>,
  maxLength: number = maxLineLength,
): AsyncGenerator<BoundedLine> {
  const decoder = new TextDecoder();
  let line = new GrowingLine(maxLength);
  for await (const chunk of bytes) {
    const text = decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      line.add(text.slice(start, end));
      yield line.toLine();
      line = new GrowingLine(maxLength);
      start = end + 1;
    }
    line.add(text.slice(start));
  }
  line.add(decoder.decode());
  if (line.length > 0) yield line.toLine();
}

class GrowingLine {
  readonly #maxLength: number;
  readonly #pieces: string[] = [];
  #kept = 0;
  #end = "";
  length = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  add(text: string): void {
    const room = this.#maxLength - this.#kept;
    this.length += text.length;
    if (room > 0) {
      this.#pieces.push(text.slice(0, room));
      this.#kept += Math.min(room, text.length);
    }
    if (text.length > room) this.#end = (this.#end + text.slice(-keptEnd)).slice(-keptEnd);
  }

  toLine(): BoundedLine {
    const start = this.#pieces.join("");
    if (this.length <= this.#maxLength) return { type: "line", text: start };
    return { type: "oversized", start, end: this.#end, length: this.length };
  }
}
