import { forEachChild, parse, type SyntaxNode } from "unbash";

/**
 * Variables whose values a line puts in somewhere: `$x`, and `${x}` with whatever is done to it. Forms that look up a name which is not
 * written after a `$` (`${!x}`, `$((x))`, `[[ x -eq 1 ]]`) are none that the reader of commands understands.
 * `hasInner`: some quoted text of it is a script for another shell, so that quotes hide nothing.
 */
export function expandedNames(text: string, hasInner: boolean): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: SyntaxNode): void => {
    if (node.type === "SimpleExpansion") names.add(node.text.slice(1));
    if (node.type === "ParameterExpansion") names.add(node.parameter);
    forEachChild(node, visit);
  };
  visit(parse(text));
  if (hasInner) for (const [, name = ""] of text.matchAll(/\$(?:\{#?)?([A-Za-z_]\w*)/g)) names.add(name);
  return names;
}
