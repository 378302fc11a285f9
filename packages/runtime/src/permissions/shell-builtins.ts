import { readWords, type Row } from "./option-grammar.ts";
import { settingObjection } from "./shell-variables.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";

/**
 * Why a builtin may change how the rest of the line is read; undefined for those that are known not to, called as is known.
 * Names that are no builtins are none of its business.
 */
export function builtinObjection(name: string, words: readonly ShellWord[]): string | undefined {
  if (!builtins.has(name)) return undefined;
  if (quiet.has(name)) return undefined;
  const rest = words.slice(1);
  const texts = rest.map((word) => (isPlain(word) ? word.text : undefined));
  switch (name) {
    case "set":
      return texts.every((text) => text !== undefined && /^(?:[-+][eufvx]*o?|pipefail|errexit|nounset)$/.test(text))
        ? undefined
        : "set changes how the rest is read";
    case "shopt":
      return texts.every((text) => text !== undefined && /^(?:-[suq]|nullglob|failglob)$/.test(text))
        ? undefined
        : "shopt changes what patterns and names mean";
    case "command":
      return /^-[pvV]*[vV]$/.test(`${texts[0]}`) ? undefined : "command runs builtins unseen";
    case "hash":
    case "alias":
      return rest.length === 0 ? undefined : `${name} changes what names mean`;
    case "wait":
      return texts.every((text) => text !== undefined && /^(?:-[fn]|\d+|%\d+)$/.test(text)) || rest.every((word) => word.digits)
        ? undefined
        : "wait may set a variable";
    case "test":
    case "[":
      return texts.some(
        (text, at) => /^-[vR]$/.test(`${text}`) && at + 1 < rest.length && !/^(?:\w+|\]|=|!=)$/.test(texts[at + 1] ?? "["),
      )
        ? "it tests a computed variable"
        : undefined;
    case "read":
      return declares(rest, readRow);
    case "mapfile":
    case "readarray":
      return declares(rest, mapRow);
    case "printf":
      return texts[0]?.startsWith("-v") ? "printf sets a variable" : undefined;
    case "unset":
      return declares(rest, unsetRow);
    case "export":
    case "readonly":
    case "declare":
    case "typeset":
    case "local":
      return declares(rest, declareRow) ?? compoundValue(rest);
    default:
      return `${name} changes how the rest is read`;
  }
}

/** Found by bash without looking for a file. */
export function isBuiltin(name: string): boolean {
  return builtins.has(name);
}

const list = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** All builtins of bash, whatever they do. */
const builtins = list(
  ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec exit export " +
    "false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift " +
    "shopt source suspend test times trap true type typeset ulimit umask unalias unset wait",
);

/** Change nothing that later words depend on, or are known to: `cd` is followed, and behind `eval` and its kin nothing is believed. */
const quiet = list(
  "eval source . trap pushd popd : break cd continue dirs echo exit false help jobs kill pwd return shift times true type umask ulimit",
);

const readRow: Row = { looks: "-rs -d: -n: -N: -p: -t: -u:", operands: "text" };
const mapRow: Row = { looks: "-t -d: -n: -s: -u:", operands: "text" };
const unsetRow: Row = { looks: "-v", operands: "text" };
const declareRow: Row = { looks: "-rxga", operands: "text" };

/** Only names, with options that give them no other nature: no numbers, no references, no letter case. */
function declares(words: readonly ShellWord[], row: Row): string | undefined {
  const { options, operands, doubt } = readWords(row, words);
  if (doubt !== undefined || options.some(({ effect }) => effect !== "looks"))
    return "it declares variables in a way that is not followed";
  const isName = ({ word }: { word: ShellWord }): boolean =>
    /^[A-Za-z_]\w*(?:=|$)/.test(word.text) && (word.kind === "exact" || word.text.includes("="));
  if (!operands.every(isName)) return "it may set a variable by a computed name";
  // Also what variables have been put into: the names that bash gets to see.
  return operands.map(({ word }) => settingObjection(word.text.replace(/=.*/s, ""), false)).find((found) => found !== undefined);
}

/** `declare -a x='(…)'` evaluates what is in the quotes. An array that is written out has no text here. */
function compoundValue(words: readonly ShellWord[]): string | undefined {
  const isSafe = ({ kind, text }: ShellWord): boolean => {
    const value = text.slice(text.indexOf("=") + 1);
    return kind === "open" ? /^[^\s(]/.test(value) : !/^\s*\(/.test(value);
  };
  return words.every(isSafe) ? undefined : "it may evaluate the value of a variable";
}
