/** The patterns of a `paths` in the head of a rule: a text with commas, a list in brackets, or one to a line. */
export function patternsOf(paths: string): string[] {
  const [, inline = "", items = ""] = /^paths:[ \t]*([^\r\n]*)([\s\S]*)$/.exec(paths) ?? [];
  const listed = [...items.matchAll(/^[ \t]*-(.*)$/gm)].map(([, item = ""]) => item);
  const written = splitOutsideBraces(inline.replace(/^\[(.*)\]\s*$/, "$1").replace(/^(["'])(.*)\1\s*$/, "$2"));
  return [...listed, ...written].map(unquoted).filter(Boolean);
}

function unquoted(item: string): string {
  return item.trim().replace(/^(["'])(.*)\1$/, "$2");
}

/** `*.{ts,tsx}, docs/**` are two. */
function splitOutsideBraces(text: string): string[] {
  return text.match(/(?:\{[^}]*\}|[^,])+/g) ?? [];
}
