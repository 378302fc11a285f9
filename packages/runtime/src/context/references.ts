import { splitCode } from "./hidden-text.ts";

/** A file, a folder or a resource that a text names with `@`. */
export type WrittenReference = {
  /** Without the `@` and without quotes. */
  readonly written: string;
  /** Written as a path or in quotes: nobody is called that. */
  readonly isPath: boolean;
};

/** `@name`, `@"name with spaces"`, at the start of a word; a full stop, comma or bracket behind it is no part of it. Each once, in their order. */
export function findReferences(text: string): WrittenReference[] {
  if (!text.includes("@")) return [];
  const found = new Map<string, WrittenReference>();
  for (const [, quoted, plain = ""] of text.matchAll(/(?<=^|\s)@(?:"([^"\n]+)"|([^\s@"'`(){}[\]<>,;][^\s"'`(){}[\]<>,;]*))/g)) {
    const written = quoted ?? plain.replace(/[.:!?]+$/, "");
    const isPath = quoted !== undefined || /^(?:\.{0,2}|~)\//.test(written);
    if (written !== "" && !found.has(written)) found.set(written, { written, isPath });
  }
  return [...found.values()];
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
