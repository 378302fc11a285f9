import { foldersOf, type Ground } from "./command-paths.ts";
import { expandGlob, type ListFolder } from "./glob-words.ts";
import type { FileUse, Program } from "./parsed-command.ts";
import { exactWord, type ShellWord, unknownWord } from "./shell-words.ts";

/** The program with the words bash would put in place of patterns. A pattern that cannot be resolved becomes a word that is not known. */
export async function resolveWords(program: Program, by: { ground: Ground; list: ListFolder | undefined }): Promise<Program> {
  if (!program.words.some(({ kind }) => kind === "glob")) return program;
  const folders = by.list && (await foldersOf(program.places, by.ground));
  const words: ShellWord[] = [];
  for (const word of program.words) {
    if (word.kind !== "glob") words.push(word);
    else words.push(...((by.list && folders && !word.tilde && (await expandGlob(word, folders, by.list))) || [unresolved(word)]));
  }
  return { ...program, words };
}

/** A pattern that a redirection reads from stands for one of the files it matches. */
export async function resolveRead(
  use: FileUse,
  by: { ground: Ground; list: ListFolder | undefined },
): Promise<readonly FileUse[]> {
  const { word, places } = use;
  if (word.kind !== "glob") return [use];
  const folders = by.list && !word.tilde ? await foldersOf(places, by.ground) : undefined;
  const words = by.list && folders ? await expandGlob(word, folders, by.list) : undefined;
  return (words ?? [unknownWord]).map((one) => ({ ...use, word: one }));
}

/**
 * The folders whose names patterns show: those in front of the first wildcard, and those of what is found. A pattern that goes through
 * folders nobody has looked into shows what is not known.
 */
export function foldersListed(words: readonly ShellWord[], resolved: readonly ShellWord[]): ShellWord[] {
  const patterns = words.filter(
    (word) => word.kind === "glob" || (word.kind === "open" && word.splits && word.text.includes("/")),
  );
  if (words.some(({ pattern }) => pattern)) return [unknownWord];
  // Names that bash splits and matches again: their own letters must not make patterns.
  const names = words.filter(({ kind, splits, needs }) => kind === "below" && splits && needs?.names);
  if (patterns.length === 0) return names;
  const isDeep = ({ kind, text }: ShellWord): boolean => kind === "glob" && text.slice(wildcardAt(text)).includes("/");
  const deep = patterns.some(isDeep);
  const found = resolved.filter((word) => !words.includes(word));
  const starts = patterns.map((word) => folderOf(word, word.kind === "glob" ? wildcardAt(word.text) : word.text.length));
  if (deep && found.some(({ kind }) => kind === "open")) return [...names, ...starts, unknownWord];
  return unique([...names, ...starts, ...(deep ? found.map((word) => folderOf(word, word.text.length)) : [])]);
}

function wildcardAt(text: string): number {
  return Math.max(0, text.search(/[*?[]/));
}

function folderOf(word: ShellWord, end: number): ShellWord {
  const slash = word.text.lastIndexOf("/", end);
  const text = slash === -1 ? "." : word.text.slice(0, slash) || "/";
  return { ...exactWord(text), tilde: word.tilde && slash !== -1 };
}

function unique(words: readonly ShellWord[]): ShellWord[] {
  return [...new Map(words.map((word) => [`${word.tilde} ${word.text}`, word])).values()];
}

function unresolved(word: ShellWord): ShellWord {
  const text = word.text.slice(0, Math.max(0, word.text.search(/[*?[]/)));
  return { kind: "open", text, splits: true, tilde: word.tilde };
}

/** The program as it would be with harmless names in place of its patterns. */
export function withoutPatterns(program: Program): Program {
  return { ...program, words: program.words.map((word) => (word.kind === "glob" ? exactWord("x") : word)) };
}
