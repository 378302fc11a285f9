import type { Command, ParameterExpansionPart, Redirection, SyntaxNode, Word } from "unbash";

/**
 * Is it one of the forms known to put in a value, and no more? `${x@P}` runs it, `${!x}` and computed subscripts evaluate it.
 * `isNumber` tells what arithmetic may safely look up.
 */
export function isClearExpansion(part: ParameterExpansionPart, isNumber: (word: Word) => boolean): boolean {
  const { prefix, index, operation } = part;
  if (prefix === "!") return false;
  if (index && !/^[@*]$/.test(index.text) && !isNumber(index)) return false;
  switch (operation?.type) {
    case undefined:
    case "Default":
    case "Remove":
    case "Replace":
    case "CaseModification":
      return true;
    case "Transform":
      return /^[QULu]$/.test(operation.operand.text);
    case "Slice":
      return [operation.offset, operation.length].every((word) => !word || isNumber(word));
    default:
      return false;
  }
}

/** Are more parentheses open at once than this? Each makes the parser look at the rest of the text once more. */
export function isNestedDeeper(text: string, most: number): boolean {
  let depth = 0;
  for (const letter of text) {
    if (letter === "(") depth++;
    if (letter === ")") depth = Math.max(0, depth - 1);
    if (depth > most) return true;
  }
  return false;
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
  const [, ...rest] = withoutContinuations(text).split(/\{[A-Za-z_]\w*\[/);
  return rest.some((piece) => /\]\}[<>]/.test(piece));
}

/** In backquotes the backslash itself may be escaped. */
function withoutContinuations(text: string): string {
  return text.replace(/(?<!\\)\\+\n/g, "");
}

/** A word right behind another, or behind the target of a redirection, was one word with it. */
export function hasTornWord(command: Command): boolean {
  const words = [...command.prefix, ...(command.name ? [command.name] : []), ...command.suffix];
  return words.some((word, index) => word.type === "Word" && words[index - 1]?.end === word.pos);
}

/** Anything but what is known to go to another descriptor than the standard input. */
export function setsInput(redirection: Redirection): boolean {
  const { operator, descriptor } = redirection;
  return !/^(?:>|>>|>\||&>|&>>|>&)$/.test(operator) || (descriptor?.type === "FileDescriptor" && Number(descriptor.value) === 0);
}

/** What a here-document or here-string says, before anything in it is replaced. */
export function textOfRedirection(redirection: Redirection): string[] {
  if (redirection.type === "HereDoc") return [redirection.body.text];
  return redirection.type === "HereString" && redirection.target ? [redirection.target.value] : [];
}

/** The words of an `echo` or `printf`, each of which may be a command for whoever reads them. */
export function wordsPrintedBy(node: SyntaxNode): string[] {
  if (node.type !== "Command" || !/^(?:echo|printf)$/.test(`${node.name?.value}`)) return [];
  const words = node.args.map((word) => (word.type === "Word" ? word.value : word.text).replaceAll("\\n", "\n"));
  return [...words, words.filter((word) => !word.startsWith("-")).join(" ")];
}
