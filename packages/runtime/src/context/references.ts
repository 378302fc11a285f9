import { splitCode } from "./hidden-text.ts";

/** A file, a folder or a resource that a text names with `@`. */
export type WrittenReference = {
  /** Without the `@` and without quotes. */
  readonly written: string;
  /** Written as a path or in quotes: nobody is called that. */
  readonly isPath: boolean;
  /** What stands before its first bracket: what is meant where there is nothing of the whole name. */
  readonly short?: string;
};

/**
 * `@name`, `@"name with spaces"`, at the start of a word. A full stop or a comma behind it is no part of it, nor is a bracket without its
 * other half; `app/[id]/page(1).tsx` is a name. Each once, in their order.
 */
export function findReferences(text: string): WrittenReference[] {
  if (!text.includes("@")) return [];
  const found = new Map<string, WrittenReference>();
  for (const [, quoted, plain = ""] of text.matchAll(/(?<=^|\s)@(?:"([^"\n]+)"|([^\s@"'`<>,;][^\s"'`<>,;]*))/g)) {
    const written = quoted ?? withoutStops(plain.slice(0, wholeBrackets(plain)));
    const short = quoted === undefined ? withoutStops(written.replace(/[(){}[\]].*$/s, "")) : written;
    const isPath = quoted !== undefined || /^(?:\.{0,2}|~)\//.test(written);
    if (written !== "" && !found.has(written)) found.set(written, { written, isPath, ...(short !== written && { short }) });
  }
  return [...found.values()];
}

function withoutStops(name: string): string {
  return name.replace(/[.:!?]+$/, "");
}

const closing: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** How much of a word there is before a bracket that has no other half. */
function wholeBrackets(word: string): number {
  const open: { readonly at: number; readonly end: string }[] = [];
  for (let at = 0; at < word.length; at++) {
    const sign = word.charAt(at);
    const end = closing[sign];
    if (end !== undefined) open.push({ at, end });
    if (!/[)\]}]/.test(sign)) continue;
    const opened = open.pop();
    if (opened?.end !== sign) return open[0]?.at ?? opened?.at ?? at;
  }
  return open[0]?.at ?? word.length;
}

/** The same for what a person wrote, without code and without what was put in for them. */
export function findPromptReferences(text: string): WrittenReference[] {
  if (!text.includes("@")) return [];
  const own = text.replace(/<context ref=[^\n]*>\n[\s\S]*?\n<\/context>/g, "");
  const prose = splitCode(own).flatMap(({ isCode, text: piece }) => (isCode ? [] : [piece.replace(/`[^`\n]*`/g, "``")]));
  return findReferences(prose.join("\n").replace(/[([{]@/g, " @")); // a person may put it in brackets
}

export type NamedLines = {
  readonly name: string;
  /** The first line and how many; absent for all of them. */
  readonly lines?: { readonly offset: number; readonly limit: number };
};

/** `name#L2-5` are lines of a file. */
export function parseLines(written: string): NamedLines {
  const [, name = "", from, to = from] = /^(.+?)#L(\d+)(?:-L?(\d+))?$/s.exec(written) ?? [];
  const offset = Number(from);
  if (name === "" || !(offset >= 1)) return { name: written };
  return { name, lines: { offset, limit: Math.max(1, Number(to) - offset + 1) } };
}
