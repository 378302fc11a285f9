/** Where a known text stands, and what it is called. */
export type KnownPlace = { readonly start: number; readonly end: number; readonly name: string };

/** The first known text that stands in `text` at `from` or behind it; of several that begin at one place, the longest. */
export type FindKnown = (text: string, from: number) => KnownPlace | undefined;

/** Of a long text only the beginning is looked for: a regular expression of thousands of characters takes milliseconds to get ready. */
const headLength = 32;

/** `nameOf`: what each text is called. */
export function findAnyOf(nameOf: ReadonlyMap<string, string>): FindKnown {
  const heads = anyOf([...new Set([...nameOf.keys()].map((one) => one.slice(0, headLength)))]);
  const longestFirst = [...nameOf].sort(([a], [b]) => b.length - a.length);
  const beginningLike = once((head: string) => longestFirst.filter(([one]) => one.startsWith(head) || head.startsWith(one)));
  return (text, from) => {
    heads.lastIndex = from;
    for (let hit = heads.exec(text); hit; hit = heads.exec(text)) {
      const start = hit.index;
      const found = beginningLike(hit[0]).find(([one]) => text.startsWith(one, start));
      if (found) return { start, end: start + found[0].length, name: found[1] };
      heads.lastIndex = start + 1;
    }
    return undefined;
  };
}

/** The longest first: of two that begin alike the whole one counts. Of none, one that is found nowhere. */
export function anyOf(texts: readonly string[]): RegExp {
  const sorted = [...texts].sort((a, b) => b.length - a.length);
  const hasBar = sorted.some((text) => text.includes("|"));
  // All at once where that is possible: hundreds of them, one by one, take half a millisecond of a start.
  const source = hasBar ? sorted.map(literally).join("|") : sorted.join("|").replace(special, "\\$&");
  return new RegExp(source || "(?!)", "g");
}

/** The text as a part of a regular expression. */
export function literally(text: string): string {
  return text.replace(special, "\\$&").replaceAll("|", "\\|");
}

const special = /[\\^$.*+?()[\]{}/-]/g;

/** Makes what is asked for the first time, and keeps it. */
export function once<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}
