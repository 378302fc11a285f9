import { foldersOf, type Ground } from "./command-paths.ts";
import { expandGlob, type ListFolder } from "./glob-words.ts";
import type { FileUse, Program } from "./parsed-command.ts";
import type { Places } from "./places.ts";
import { exactWord, type ShellWord, unknownWord } from "./shell-words.ts";

/** The program with the words bash would put in place of patterns. A pattern that cannot be resolved becomes a word that is not known. */
export async function resolveWords(program: Program, by: By): Promise<Program> {
  if (!program.words.some(({ kind }) => kind === "glob")) return program;
  const words: ShellWord[] = [];
  for (const word of program.words)
    words.push(...(word.kind === "glob" ? ((await matchesOf(word, program.places, by)) ?? [unresolved(word)]) : [word]));
  return { ...program, words };
}

/** A pattern that a redirection reads from stands for one of the files it matches. */
export async function resolveRead(use: FileUse, by: By): Promise<readonly FileUse[]> {
  const { word, places } = use;
  if (word.kind !== "glob") return [use];
  const words = (await matchesOf(word, places, by)) ?? [unknownWord];
  return words.map((one) => ({ ...use, word: one }));
}

type By = { readonly ground: Ground; readonly list: ListFolder | undefined };

async function matchesOf(word: ShellWord, places: Places, { ground, list }: By): Promise<readonly ShellWord[] | undefined> {
  const folders = list && !word.tilde ? await foldersOf(places, ground) : undefined;
  return list && folders ? expandGlob(word, folders, { list, resolve: ground.resolve }) : undefined;
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
  const isDeep = ({ kind, text }: ShellWord): boolean => kind === "glob" && text.slice(wildcardAt(text)).includes("/");
  const deep = patterns.some(isDeep);
  const found = resolved.filter((word) => !words.includes(word));
  const starts = patterns.map((word) => folderOf(word, word.kind === "glob" ? wildcardAt(word.text) : word.text.length));
  if (deep && found.some(({ kind }) => kind === "open")) return [...names, ...starts, unknownWord];
  return unique([...names, ...starts, ...found.map((word) => folderOf(word, word.text.length))]);
}

function wildcardAt(text: string): number {
  return text.search(/[*?[]/);
}

function folderOf(word: ShellWord, end: number): ShellWord {
  const slash = word.text.lastIndexOf("/", end);
  const text = slash === -1 ? "." : word.text.slice(0, slash) || "/";
  return { ...exactWord(text), tilde: word.tilde && slash !== -1 };
}

function unique(words: readonly ShellWord[]): ShellWord[] {
  return [...new Map(words.map((word) => [`${word.kind} ${word.tilde} ${word.text}`, word])).values()];
}

function unresolved(word: ShellWord): ShellWord {
  return { kind: "open", text: word.text.slice(0, wildcardAt(word.text)), splits: true, tilde: word.tilde };
}

/** The program as it would be with harmless names in place of its patterns. */
export function withoutPatterns(program: Program): Program {
  return { ...program, words: program.words.map((word) => (word.kind === "glob" ? exactWord("x") : word)) };
}
