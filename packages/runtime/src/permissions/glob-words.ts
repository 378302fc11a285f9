import { parentOf } from "./command-paths.ts";
import type { ResolvePath } from "./policy.ts";
import { exactWord, type ShellWord } from "./shell-words.ts";

/** What is in a folder; undefined when that cannot be told. Links to the folder are followed. */
export type ListFolder = (folder: string) => Promise<readonly FolderEntry[] | undefined>;
export type FolderEntry = { readonly name: string; readonly kind: "file" | "directory" | "symlink" | "other" };

const maxFolders = 200;
const maxMatches = 1_000;

/**
 * The words bash may put in place of a pattern, from any of these folders: those it matches, and the pattern itself where nothing does.
 * More than bash would find, never less. Undefined when there are too many, or a match would be taken apart again.
 */
export async function expandGlob(
  word: ShellWord,
  folders: readonly string[],
  by: { readonly list: ListFolder; readonly resolve: ResolvePath },
): Promise<ShellWord[] | undefined> {
  const found = new Set([word.text]);
  const budget = { folders: maxFolders };
  for (const folder of folders) {
    const start = word.text.startsWith("/") ? "/" : `${folder}/`;
    const matches = await matchFrom({ start, done: word.text.startsWith("/") ? "/" : "" }, segmentsOf(word.text), {
      ...by,
      budget,
    });
    if (!matches) return undefined;
    for (const match of matches) found.add(match);
    if (found.size > maxMatches) return undefined;
  }
  const texts = [...found];
  // Without quotes, what a variable holds is split and matched once more.
  if (word.splits && texts.some((text) => text !== word.text && /[\s*?[\\]/.test(text))) return undefined;
  return texts.map((text) => ({ ...exactWord(text), tilde: false }));
}

type Tools = { readonly list: ListFolder; readonly resolve: ResolvePath; readonly budget: { folders: number } };

/** `done` is what the word says so far, `start` where that is: behind a link, `..` leads to the parent of where the link leads. */
async function matchFrom(
  at: { readonly start: string; readonly done: string },
  segments: readonly string[],
  tools: Tools,
): Promise<string[] | undefined> {
  const [segment, ...rest] = segments;
  if (segment === undefined) return [at.done];
  const slash = rest.length > 0 ? "/" : "";
  const names = /[*?[]/.test(segment)
    ? await namesFor(segment, { folder: at.start, isLast: rest.length === 0, tools })
    : [segment];
  if (!names) return undefined;
  const found: string[] = [];
  for (const name of names) {
    const start = name === ".." && rest.length > 0 ? await parentOf(at.start, tools.resolve) : `${at.start}${name}`;
    const more = start && (await matchFrom({ start: `${start}${slash}`, done: `${at.done}${name}${slash}` }, rest, tools));
    if (!more) return undefined;
    found.push(...more);
  }
  return found;
}

/** Before its version 5.2, bash takes `..` for a name that `.*` matches. */
async function namesFor(
  segment: string,
  { folder, isLast, tools }: { folder: string; isLast: boolean; tools: Tools },
): Promise<string[] | undefined> {
  if (--tools.budget.folders < 0) return undefined;
  const entries = (await tools.list(folder)) ?? [];
  const fits = toTest(segment);
  const names = entries.filter(({ name, kind }) => fits(name) && (isLast || kind !== "file")).map(({ name }) => name);
  if (!names.every(isTold)) return undefined;
  return fits("..") && !startsOtherwise.test(segment) ? [...names, ".."] : names;
}

/** Of a name that is no text, not all bytes are known: there is no telling where it leads. */
export function isTold(name: string): boolean {
  return !name.includes("\ufffd");
}

/** `.[a-z]*` and `.[!.]*` are written so as not to match `..`. */
const startsOtherwise = /^\.\[(?:(?:\w-\w|\w)+|[!^][^\][]*\.[^\][]*)\]/;

function segmentsOf(text: string): string[] {
  return (text.startsWith("/") ? text.slice(1) : text).split("/");
}

/** Brackets count as any one letter. A hidden name needs its dot written out. */
function toTest(segment: string): (name: string) => boolean {
  const simple = segment.replace(brackets, "?").replace(/\[.*/s, "*");
  const [letters, loose] = [simple, simple.replaceAll("?", "*")].map((pattern) => pattern.split(""));
  return (name) => {
    if (name.startsWith(".") && !segment.startsWith(".")) return false;
    // What counts as one letter depends on the locale.
    return matches((/^[\x20-\x7e]*$/.test(name) ? letters : loose) ?? [], name);
  };
}

function matches(pattern: readonly string[], name: string): boolean {
  let reachable = new Set([0]);
  for (const letter of pattern) {
    const next = new Set<number>();
    for (const at of reachable) {
      if (letter === "*") for (let more = at; more <= name.length; more++) next.add(more);
      else if (letter === "?" || letter === name[at]) next.add(at + 1);
    }
    reachable = next;
  }
  return reachable.has(name.length);
}

/** Those of letters, ranges and classes. Others may stand for more than a letter, or end elsewhere than it seems. */
const brackets = /\[(?:[!^]|(?![!^]))(?:\]|[^\][]|\[:\w+:\])(?:[^\][]|\[:\w+:\])*\]/g;
