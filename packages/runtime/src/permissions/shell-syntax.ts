import { type Command, forEachChild, type ParameterExpansionPart, type Redirection, type SyntaxNode, type Word } from "unbash";

/** `${x@P}` runs its value, `${!x}` and computed subscripts evaluate it: what is inside cannot be seen. */
export function isOpaqueExpansion(part: ParameterExpansionPart): boolean {
  const { prefix, index, operation } = part;
  if (prefix === "!") return true;
  if (index && !/^(?:\d+|@|\*)$/.test(index.text)) return true;
  if (!operation) return false;
  if (operation.type === "Transform") return !/^[QULu]$/.test(operation.operand.text);
  if (operation.type === "Slice")
    return ![operation.offset, operation.length].every((word) => !word || /^\s*-?\d+\s*$/.test(word.text));
  return operation.type === "Unknown" || operation.type === "Names";
}

/** Could the variable of a loop get another value inside it? */
export function maySet(node: SyntaxNode, name: string): boolean {
  if (node.type === "Assignment" && node.name === name) return true;
  if ((node.type === "For" || node.type === "Select" || node.type === "Coproc") && node.name?.value === name) return true;
  if (node.type === "Command" && node.name && (node.name.parts || setters.test(node.name.value))) return true;
  if (node.type === "ParameterExpansion" && node.parameter === name && node.operation) return true;
  let found = false;
  forEachChild(node, (child) => {
    found ||= maySet(child, name);
  });
  return found;
}

const setters = /^(?:read|printf|declare|typeset|local|export|readonly|unset|mapfile|readarray|getopts|eval|source|\.|let|wait)$/;

/** Nothing that arithmetic would look up. */
export function isNumber(word: Word): boolean {
  return /^-?\d+$/.test(word.text) || /^"?\$[#?]"?$/.test(word.text);
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

/** A word right behind another, or behind the target of a redirection, was one word with it. */
export function hasTornWord(command: Command): boolean {
  const words = [...command.prefix, ...(command.name ? [command.name] : []), ...command.suffix];
  return words.some((word, index) => word.type === "Word" && index > 0 && words[index - 1]?.end === word.pos);
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
