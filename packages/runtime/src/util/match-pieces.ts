/** A part of a pattern, read by whoever knows its language. */
export type Piece =
  | { readonly kind: "text"; readonly text: string }
  /** One character, or any number of them, of those it accepts. */
  | { readonly kind: "one" | "many"; readonly accepts: (character: string) => boolean }
  /** Nothing, or anything that ends in a slash. */
  | { readonly kind: "folders" };

export const anyLetter: Piece = { kind: "one", accepts: () => true };
export const anyText: Piece = { kind: "many", accepts: () => true };
export const partOfName: Piece = { kind: "many", accepts: isOfName };
export const letterOfName: Piece = { kind: "one", accepts: isOfName };
export const anyFolders: Piece = { kind: "folders" };

function isOfName(character: string): boolean {
  return character !== "/";
}

/**
 * Do these pieces, one after the other, make up the text? Of each piece in turn it is noted where in the text it can end, so that the time
 * is at most that of going through the text once for each of them. A regular expression of the same pieces could take for ever.
 */
export function matchPieces(pieces: readonly Piece[], text: string): boolean {
  const [start] = pieces;
  if (start?.kind === "text" && !text.startsWith(start.text)) return false; // most patterns fail here
  let ends: Uint8Array = new Uint8Array(text.length + 1);
  ends[0] = 1;
  let first = 0; // nothing ends before it
  let before: Piece | undefined;
  for (const piece of pieces) {
    const isIdle = before === anyText && (piece.kind === "many" || piece.kind === "folders");
    if (isIdle) continue;
    before = piece;
    ends = endsOf(piece, text, { begins: ends, first });
    first = ends.indexOf(1, first);
    if (first === -1) return false;
  }
  return ends[text.length] === 1;
}

/** Where a piece can end that begins at one of these places. */
function endsOf(piece: Piece, text: string, { begins, first }: { begins: Uint8Array; first: number }): Uint8Array {
  const ends = new Uint8Array(text.length + 1);
  let begun = false;
  for (let at = first; at <= text.length; at++) {
    const here = begins[at] === 1;
    switch (piece.kind) {
      case "text":
        if (here && text.startsWith(piece.text, at)) ends[at + piece.text.length] = 1;
        break;
      case "one":
        if (here && at < text.length && piece.accepts(text.charAt(at))) ends[at + 1] = 1;
        break;
      case "many":
        begun = here || (begun && piece.accepts(text.charAt(at - 1)));
        if (begun) ends[at] = 1;
        break;
      case "folders":
        if (here || (begun && text.charAt(at - 1) === "/")) ends[at] = 1;
        begun ||= here;
    }
  }
  return ends;
}
