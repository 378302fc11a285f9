import { exactWord, isPlain, type ShellWord } from "./shell-words.ts";

/** Directories a command may be in: each a chain of `cd` operands from where it started. Undefined: cannot be told. */
export type Places = readonly (readonly ShellWord[])[] | undefined;

const maxPlaces = 8;

/** Where a command is that may have come either way. */
export function eitherPlace(first: Places, second: Places): Places {
  if (first === second || first === undefined || second === undefined) return first === second ? first : undefined;
  const all = [...first, ...second.filter((chain) => !first.includes(chain))];
  return all.length > maxPlaces ? undefined : all;
}

/** Where a `cd` with these words leads. */
export function placesAfterCd(words: readonly ShellWord[], places: Places): Places {
  const operands = words.slice(1).filter((word) => !(isPlain(word) && /^(?:-[LPe@]+|--)$/.test(word.text)));
  const [target = { ...exactWord("~"), tilde: true }] = operands;
  // Where git finds no repository, `cd ""` stays.
  if (operands.length === 1 && target.top)
    return (
      places &&
      eitherPlace(
        places,
        places.map((chain) => [...chain, target]),
      )
    );
  const certain = operands.length <= 1 && target.kind === "exact" && target.text !== "-" && target.text !== "";
  return certain ? places?.map((chain) => [...chain, target]) : undefined;
}
