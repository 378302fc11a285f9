import type { BoundedLine } from "./bounded-lines.ts";
import type { McpMessage } from "./transport.ts";

type Oversized = BoundedLine & { type: "oversized" };

/**
 * What stands for a message that was too long to be read whole: an answer with its first part as text, which is then kept and cut
 * like any long output. Undefined for what answers nothing. `asked` are the requests that wait for an answer.
 */
export function toShortMessage(message: Oversized, asked: Iterable<string | number> = []): McpMessage | undefined {
  const id = idOf(message) ?? onlyOne(asked);
  if (id === undefined || /^\s*\{[^{}[\]]{0,500}"method"\s*:/.test(message.start.slice(0, 1_000))) return undefined;
  return { jsonrpc: "2.0", id, result: { content: toBlocks(message), _meta: { [lengthKey]: message.length } } };
}

/** How long the message was that an answer stands for; undefined for one that came whole. */
export function lengthOfOversized(result: unknown): number | undefined {
  const { _meta } = Object(result) as { _meta?: unknown };
  const { [lengthKey]: length } = Object(_meta) as { [lengthKey]?: unknown };
  return typeof length === "number" ? length : undefined;
}

const lengthKey = "outrider/oversized";

function toBlocks({ start, length }: Oversized): { type: "text"; text: string }[] {
  const tooLong = `[The MCP server answered with ${length} characters, more than can be held.`;
  if (beginsWithFile(start))
    return [{ type: "text", text: `${tooLong} They are an image or another file, which is not shown. Ask for less.]` }];
  const text = firstText(start) ?? start;
  return [
    { type: "text", text: `${tooLong} Only the first ${text.length} of them follow; the rest is lost. Ask for less.]` },
    { type: "text", text },
  ];
}

/** Base64 says nothing to a model. */
function beginsWithFile(json: string): boolean {
  const beginning = json.slice(0, 100_000);
  const file = /"(?:data|blob)"\s*:\s*"[A-Za-z0-9+/=_-]{1000}/.exec(beginning);
  const words = /"text"\s*:\s*"/.exec(beginning);
  return file !== null && (words === null || words.index > file.index);
}

/** Ids stand before the result, or after it at the very end. */
function idOf({ start, end }: Oversized): string | number | undefined {
  const before = /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d+|"(?:[^"\\]|\\.){0,200}")\s*,/.exec(
    start.slice(0, 1_000),
  );
  const after = /,\s*"id"\s*:\s*(\d+|"(?:[^"\\]|\\.){0,200}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(end);
  const found = before?.[1] ?? after?.[1];
  return found === undefined ? undefined : (JSON.parse(found) as string | number); // by the patterns above
}

function onlyOne(asked: Iterable<string | number>): string | number | undefined {
  const [first, second] = asked;
  return second === undefined ? first : undefined;
}

/** The words of the first block of text, as far as they go. */
function firstText(json: string): string | undefined {
  const begin = /"text"\s*:\s*"/.exec(json.slice(0, 100_000));
  if (!begin) return undefined;
  const from = begin.index + begin[0].length;
  let to = json.indexOf('"', from);
  while (to !== -1 && isEscaped(json, to)) to = json.indexOf('"', to + 1);
  const raw = to === -1 ? json.slice(from) : json.slice(from, to);
  return parseText(raw) ?? parseText(raw.slice(0, raw.lastIndexOf("\\"))); // it may be cut in the middle of an escape
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === "\\") backslashes++;
  return backslashes % 2 === 1;
}

function parseText(raw: string): string | undefined {
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return undefined;
  }
}
