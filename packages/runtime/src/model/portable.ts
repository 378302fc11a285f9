import { createRedactor } from "../util/redact.ts";

/**
 * Texts that differ from machine to machine, by the word that stands for them in a recording: `{"{{cwd}}": "/home/me/project"}`.
 * Of several texts for one thing, the first is the one that is put back.
 */
export type Places = Readonly<Record<string, string | readonly string[]>>;

export type PortableOptions = {
  readonly places: Places;
  /** Hidden wherever they stand, beside whatever has the shape of a key. */
  readonly secrets?: readonly string[];
};

/** Turns what was said on one machine into what can be replayed on another, and back. Both ways keep the shape of the value. */
export interface Portable {
  from<T>(local: T): T;
  to<T>(portable: T): T;
}

/**
 * Files with overflowing output have another name in each run: they are numbered as results name them, and so it does matter
 * that values come in the order of the conversation. The same object is translated once; lists may grow.
 */
export function createPortable({ places, secrets = [] }: PortableOptions): Portable {
  const words = Object.keys(places);
  const wordOf = new Map(words.flatMap((word) => textsOf(places[word]).map((text) => [text, word] as const)).reverse());
  const textOf = new Map(words.map((word) => [word, textsOf(places[word])[0] ?? word]));
  let texts = toPattern([...wordOf.keys()], words);
  const { text: hide } = createRedactor({ secrets });

  const numberFiles = (text: string): void => {
    for (const [, path] of text.matchAll(overflowNotice)) {
      if (path === undefined || path.startsWith("{{") || wordOf.has(path)) continue;
      const word = `{{overflow:${textOf.size - words.length + 1}}}`;
      wordOf.set(path, word);
      textOf.set(word, path);
      texts = toPattern([...wordOf.keys()], words);
    }
  };
  const fromText = (text: string): string => {
    if (text.includes("characters omitted; ")) numberFiles(text);
    // A text that holds one of our words by itself keeps it, marked.
    return hide(text.replace(texts, (found) => wordOf.get(found) ?? `\\${found}`));
  };
  const toText = (text: string): string =>
    text.replace(anyWord, (found) => (found.startsWith("\\") ? unmark(found, textOf) : (textOf.get(found) ?? found)));
  return { from: mapStrings(fromText), to: mapStrings(toText) };
}

/** What tools write where they cut an output. */
const overflowNotice =
  /characters omitted; the (?:whole output is|first \d+ characters are) in (.+?)(?: …|, the rest is lost …)/g;
const anyWord = /\\?\{\{[\w:-]+\}\}/g;

function unmark(found: string, known: ReadonlyMap<string, string>): string {
  const word = found.slice(1);
  return known.has(word) || word.startsWith("{{overflow:") ? word : found;
}

function textsOf(texts: string | readonly string[] | undefined): string[] {
  // A home of "/" or "" is no place: it would be found everywhere.
  return [texts ?? []].flat().filter((text) => text.length > 1);
}

/** Whole paths only: `/work` is neither in `/workspace` nor in `/home/work`. The longest first, since a home is the beginning of what lies in it. */
function toPattern(paths: readonly string[], words: readonly string[]): RegExp {
  const whole = [...paths].sort((a, b) => b.length - a.length).map((path) => `${pathStart}${literal(path)}${pathEnd}`);
  return new RegExp([...whole, ...words.map(literal), "\\{\\{overflow:\\d+\\}\\}"].join("|"), "g");
}

/** A letter before it is the end of another name, unless it is the `n` of a `\n` in JSON or code. */
const pathStart = "(?<!(?<!\\\\)[\\w.~-])";
const pathEnd = "(?![\\w-]|\\.\\w)";

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** Every string of a JSON value, names of properties included. */
function mapStrings(change: (text: string) => string): <T>(value: T) => T {
  const known = new WeakMap<object, object>();
  const map = (value: unknown): unknown => {
    if (typeof value === "string") return change(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(map);
    const before = known.get(value);
    if (before) return before;
    const mapped = Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), map(item)]));
    known.set(value, mapped);
    return mapped;
  };
  return <T>(value: T): T => map(value) as T; // strings stay strings, lists lists, and objects keep their properties
}
