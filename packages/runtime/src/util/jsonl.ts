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

/** Strict JSONL: records end at LF only. `node:readline` also splits on U+2028, which is legal inside JSON strings. */
export async function* readLines(bytes: AsyncIterable<Uint8Array>, maxLength: number = 64 * 1024 * 1024): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of bytes) {
    rest += decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n", start)) {
      const line = rest.slice(start, end).trimEnd();
      if (line) yield line;
      start = end + 1;
    }
    rest = rest.slice(start);
    if (rest.length > maxLength) throw new Error(`A line is longer than ${maxLength} characters`);
  }
  const last = (rest + decoder.decode()).trim();
  if (last) yield last;
}
