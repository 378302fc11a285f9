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
  list: ListFolder,
): Promise<ShellWord[] | undefined> {
  const found = new Set([word.text]);
  const budget = { folders: maxFolders };
  for (const folder of folders) {
    const start = word.text.startsWith("/") ? "/" : `${folder}/`;
    const matches = await matchFrom({ start, done: word.text.startsWith("/") ? "/" : "" }, segmentsOf(word.text), {
      list,
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

type Tools = { readonly list: ListFolder; readonly budget: { folders: number } };

/** `done` is what the word says so far, `start` where that is. */
async function matchFrom(
  at: { readonly start: string; readonly done: string },
  segments: readonly string[],
  tools: Tools,
): Promise<string[] | undefined> {
  const [segment, ...rest] = segments;
  if (segment === undefined) return [at.done];
  const slash = rest.length > 0 ? "/" : "";
  if (!/[*?[]/.test(segment))
    return matchFrom({ start: `${at.start}${segment}${slash}`, done: `${at.done}${segment}${slash}` }, rest, tools);
  if (--tools.budget.folders < 0) return undefined;
  const entries = (await tools.list(at.start)) ?? [];
  const names = entries
    .filter(({ name, kind }) => fits(segment, name) && (rest.length === 0 || kind !== "file"))
    .map(({ name }) => name);
  const found: string[] = [];
  for (const name of names) {
    const more = await matchFrom({ start: `${at.start}${name}${slash}`, done: `${at.done}${name}${slash}` }, rest, tools);
    if (!more) return undefined;
    found.push(...more);
  }
  return found;
}

function segmentsOf(text: string): string[] {
  return (text.startsWith("/") ? text.slice(1) : text).split("/");
}

/** Brackets count as any one letter. A hidden name needs its dot written out. */
function fits(segment: string, name: string): boolean {
  if (name.startsWith(".") && !segment.startsWith(".")) return false;
  const pattern = segment.replace(/\[[!^]?\]?[^\]]*\]/g, "?");
  let reachable = new Set([0]);
  for (const letter of pattern) {
    const next = new Set<number>();
    for (const at of reachable) {
      if (letter === "*") for (let more = at; more <= name.length; more++) next.add(more);
      else if (letter === "?" || letter === "[" || letter === name[at]) next.add(at + 1);
    }
    reachable = next;
  }
  return reachable.has(name.length);
}
