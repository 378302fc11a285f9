import type { ToolFacts } from "../protocol/tool-facts.ts";
import { isRecord } from "../util/is-record.ts";

/** What of an input makes it this call: without the fields that decide nothing, each path and command in one spelling. */
export function essenceOf(input: unknown, facts: ToolFacts | undefined, root: string): unknown {
  if (!isRecord(input) || !facts) return input;
  const { asides = [], fields = {} } = facts;
  const kept = Object.entries(input).filter(([name]) => !asides.includes(name));
  return Object.fromEntries(
    kept.map(([name, value]) => {
      if (typeof value !== "string") return [name, value];
      if (name === fields.command) return [name, plainCommand(value)];
      const isPath = name === fields.file || name === fields.folder;
      return [name, isPath && !value.startsWith("~") ? wholePath(root, value) : value];
    }),
  );
}

/** Without dots, from the root on; what links make of it is not looked at. */
function wholePath(root: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${root}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** Without comments, and with one blank for many. Where lines are a text of their own, every sign of them may count. */
function plainCommand(text: string): string {
  if (text.includes("<<")) return text.trim();
  const code = text.replaceAll(comments, (piece, comment) => (comment === undefined ? piece : ""));
  const spaced = code.replaceAll(blanks, (piece, blank) => {
    if (blank === undefined) return piece;
    return piece.includes("\n") ? "\n" : " ";
  });
  let end = spaced.length;
  while (end > 0 && "; \n".includes(spaced.charAt(end - 1))) end--;
  return spaced.slice(0, end).trimStart();
}

/** What is quoted or escaped stays as it is; a comment begins where a word could. */
const quoted = String.raw`\\[^]|'[^']*'|"(?:\\[^]|[^"\\])*"`;
const comments = new RegExp(`${quoted}|(?<=^|[\\s;&|(])(#[^\\n]*)`, "g");
const blanks = new RegExp(`${quoted}|(\\s+)`, "g");
