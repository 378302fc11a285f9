import type { Command, ParameterExpansionPart, Redirection, SyntaxNode, Word } from "unbash";

/**
 * Everything but the forms known to put in a value: `${x@P}` runs it, `${!x}` and computed subscripts evaluate it.
 * `isNumber` tells what arithmetic may safely look up.
 */
export function isOpaqueExpansion(part: ParameterExpansionPart, isNumber: (word: Word) => boolean): boolean {
  const { prefix, index, operation } = part;
  if (prefix === "!") return true;
  if (index && !/^[@*]$/.test(index.text) && !isNumber(index)) return true;
  switch (operation?.type) {
    case undefined:
    case "Default":
    case "Remove":
    case "Replace":
    case "CaseModification":
      return false;
    case "Transform":
      return !/^[QULu]$/.test(operation.operand.text);
    case "Slice":
      return ![operation.offset, operation.length].every((word) => !word || isNumber(word));
    default:
      return true;
  }
}

/** Each open level makes the parser look at the rest of the text once more. */
export function deepestParenthesis(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === "(") deepest = Math.max(deepest, ++depth);
    else if (letter === ")" && depth > 0) depth--;
  }
  return deepest;
}

/** The parser gives no parts, so nothing in it was looked at, although something in it acts: `x=($(y))z`. */
export function isTakenForPlain(word: Word): boolean {
  return word.parts === undefined && /[$`'"()<>|&; \t\n]/.test(word.text.replace(/\\[\s\S]/g, ""));
}

/** `(… [x]=1 …)`: bash evaluates what stands in the brackets. Only digits are let through, and no braces that might make such an element. */
export function hasComputedPlace({ text }: Word): boolean {
  const plain = withoutContinuations(text);
  return /^\[/.test(plain) ? !/^\[\d+\]\+?=/.test(plain) : /^\{[\s\S]*\[/.test(plain);
}

/** What the parser and bash disagree about, seen in the text itself. */
export function doubtAboutText(text: string): string | undefined {
  if (text.includes("\0")) return "it holds a NUL character";
  // The parser starts a comment behind `<(x)`; bash goes on with the word.
  if (text.includes(")#") && /[<>]\(/.test(text)) return "a substitution is part of a word";
  return hasComputedDescriptor(text) ? "it computes where a descriptor is kept" : undefined;
}

/** `{x[…]}<file`: bash evaluates the subscript, and the parser takes most of these for words. */
function hasComputedDescriptor(text: string): boolean {
  const plain = withoutContinuations(text);
  const start = plain.search(/\{[A-Za-z_]\w*\[/);
  return start !== -1 && /\]\}[<>]/.test(plain.slice(start));
}

/** In backquotes the backslash itself may be escaped. */
function withoutContinuations(text: string): string {
  return text.replace(/(?<!\\)\\+\n/g, "");
}

/** A word right behind another, or behind the target of a redirection, was one word with it. */
export function hasTornWord(command: Command): boolean {
  const words = [...command.prefix, ...(command.name ? [command.name] : []), ...command.suffix];
  return words.some((word, index) => word.type === "Word" && index > 0 && words[index - 1]?.end === word.pos);
}

/** Anything but what is known to go to another descriptor than the standard input. */
export function setsInput(redirection: Redirection): boolean {
  if (redirection.type !== "Redirect") return true;
  const { operator, descriptor } = redirection;
  return !/^(?:>|>>|>\||&>|&>>|>&)$/.test(operator) || (descriptor?.type === "FileDescriptor" && Number(descriptor.value) === 0);
}

/** What a here-document or here-string says, before anything in it is replaced. */
export function textOfRedirection(redirection: Redirection): string[] {
  if (redirection.type === "HereDoc") return [redirection.body.text];
  return redirection.type === "HereString" && redirection.target ? [redirection.target.value] : [];
}

/** The words of an `echo` or `printf`, each of which may be a command for whoever reads them. */
export function wordsPrintedBy(node: SyntaxNode | undefined): string[] {
  if (node?.type !== "Command" || !/^(?:echo|printf)$/.test(node.name?.value ?? "")) return [];
  const words = node.args.flatMap((word) => (word.type === "Word" ? [word.value.replaceAll("\\n", "\n")] : []));
  return [...words, words.filter((word) => !word.startsWith("-")).join(" ")];
}
