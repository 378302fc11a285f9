import { anyLetter, anyText, matchPieces, type Piece } from "../util/match-pieces.ts";

/** Does a pattern of a deny rule speak of this name, address or text? `*` is any text, and `ab *` and `ab:*` are whatever begins with `ab`. */
export function forbidsName(pattern: string, name: string): boolean {
  return isLike(pattern.replace(/(?::| +)\*$/, "*"), name);
}

/** A host with all below it; `*.x` forbids `x` too. */
export function forbidsHost(domain: string, host: string): boolean {
  const top = domain.replace(/^(?:\*\.)+/, "").replace(/\.$/, "");
  return isLike(`*.${top}`, `.${host}`);
}

function isLike(pattern: string, text: string): boolean {
  const words = pattern.replace(/\\([*?])/g, "$1").split(/(\*+|\?)/);
  const pieces = words
    .filter((word) => word !== "")
    .map((word): Piece => {
      if (word === "?") return anyLetter;
      return word.startsWith("*") ? anyText : { kind: "text", text: word };
    });
  return matchPieces(pieces, text);
}
