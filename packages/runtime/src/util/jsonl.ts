/** One record, one line. U+2028/2029 are legal in JSON strings but split lines in many readers, so they go out escaped. */
export function toLine(value: unknown): string {
  return `${toSafeJson(value)}\n`;
}

export function toSafeJson(value: unknown): string {
  const json = JSON.stringify(value);
  // Strings without such characters are stored in one byte per character, where these searches end at once.
  if (!json.includes("\u2028") && !json.includes("\u2029")) return json;
  return json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** No line of a well-meant program is that long: reading on would only fill the memory. */
export class LineTooLong extends Error {
  override readonly name = "LineTooLong";

  constructor(maxLength: number) {
    super(`A line is longer than ${maxLength} characters`);
  }
}

/** Strict JSONL: records end at LF only. `node:readline` also splits on U+2028, which is legal inside JSON strings. */
export async function* readLines(bytes: AsyncIterable<Uint8Array>, maxLength: number = 64 * 1024 * 1024): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // Of the line whose end has not come yet. Each piece is searched once and joined once: long lines come in thousands of them.
  let pieces: string[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    const text = decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      const line = [...pieces, text.slice(start, end)].join("").trimEnd();
      pieces = [];
      length = 0;
      if (line) yield line;
      start = end + 1;
    }
    pieces.push(text.slice(start));
    length += text.length - start;
    if (length > maxLength) throw new LineTooLong(maxLength);
  }
  const last = [...pieces, decoder.decode()].join("").trim();
  if (last) yield last;
}
