import { RuntimeError } from "../../protocol/errors.ts";

/** One "Name: value" a line, as Claude Code takes them. A header that is written otherwise is an error, without its words: it may be a key. */
export function customHeaders(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*:\s*([\t\x20-\x7e\x80-\xff]*?)\s*$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        throw new RuntimeError("config", "ANTHROPIC_CUSTOM_HEADERS needs one header a line, as Name: value");
      return [name.toLowerCase(), value];
    }),
  );
}
