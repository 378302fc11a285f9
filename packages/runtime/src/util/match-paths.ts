import { anyFolders, anyText, letterOfName, matchPieces, partOfName, type Piece } from "./match-pieces.ts";

/** Alternatives in braces: more is not written by people. */
const maxAlternatives = 64;

/**
 * Tells of paths below a folder whether one of these patterns means them: `*`, `**`, `?`, `[ab]`, `{a,b}`. A pattern without a folder in it is
 * about names, wherever they are; a folder is all that is in it.
 */
export function matchPaths(patterns: readonly string[]): (path: string) => boolean {
  const meant = patterns.flatMap((pattern) => alternativesOf(pattern.trim())).flatMap(readPattern);
  return (path) => meant.some((pieces) => matchPieces(pieces, path) || matchPieces([...pieces, ...below], path));
}

/** `a.{ts,js}` is `a.ts` and `a.js`. */
function alternativesOf(pattern: string): string[] {
  let found = [pattern];
  for (;;) {
    const more = found.flatMap((one) => {
      const [whole, before = "", inside = "", after = ""] = /^([^{}]*)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(one) ?? [];
      return whole === undefined ? [one] : inside.split(",").map((word) => before + word + after);
    });
    if (more.length === found.length || more.length > maxAlternatives) return more.slice(0, maxAlternatives);
    found = more;
  }
}

/** None for a pattern that means nothing. */
function readPattern(pattern: string): Piece[][] {
  const path = pattern
    .replace(/^\.?\//, "")
    .replace(/\/$/, "")
    .replace(/(?:\*\*\/)+/g, "**/");
  if (path === "") return [];
  const words = (pattern.includes("/") ? path : `**/${path}`).split(/(\*\*\/|\*{2,}|\*|\?|\[[^\]/]+\])/);
  return [words.filter((word) => word !== "").map(readWord)];
}

function readWord(word: string): Piece {
  if (word === "**/") return anyFolders;
  if (word === "*") return partOfName;
  if (word.startsWith("**")) return anyText;
  if (word === "?") return letterOfName;
  const [, not, letters] = /^\[(!?)([^\]]+)\]$/.exec(word) ?? [];
  if (letters === undefined) return { kind: "text", text: word };
  return { kind: "one", accepts: (character) => isAmong(character, letters) !== (not === "!") && character !== "/" };
}

/** `a-z` is a range, as long as it goes upwards. */
function isAmong(character: string, letters: string): boolean {
  const ranges = letters.matchAll(/(.)-(.)|(.)/gs);
  return [...ranges].some(([, from = "", to = "", one]) =>
    one === undefined ? from <= character && character <= to : one === character,
  );
}

/** A folder is all that is in it. */
const below: readonly Piece[] = [{ kind: "text", text: "/" }, anyText];
