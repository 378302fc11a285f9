/** The line with which the part of a file begins. */
export type Header = { readonly type: "add" | "update" | "delete"; readonly path: string };

/** The files a patch would touch, also of one that is not whole. */
export function filesOfPatch(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const path = fileHeader(line)?.path ?? moveTarget(line);
    return path ? [path] : [];
  });
}

/** The same patch with other paths. */
export async function withPaths(text: string, change: (path: string) => Promise<string>): Promise<string> {
  const lines = text.split("\n").map(async (line) => {
    const path = fileHeader(line)?.path ?? moveTarget(line);
    return path ? `${line.slice(0, line.indexOf(":") + 1)} ${await change(path)}` : line;
  });
  return (await Promise.all(lines)).join("\n");
}

const types = { add: "add", create: "add", update: "update", delete: "delete", remove: "delete" } as const;

export function fileHeader(line: string): Header | undefined {
  const [, verb = "", path = ""] = /^\s*\*{3}\s*(Add|Create|Update|Delete|Remove) File:\s*(.*?)\s*$/i.exec(line) ?? [];
  if (verb === "") return undefined;
  return { type: types[verb.toLowerCase() as keyof typeof types], path: unquoted(path) }; // the expression has no other verbs
}

export function moveTarget(line: string): string | undefined {
  const path = /^\s*\*{3}\s*(?:Move to|Rename to):\s*(.*?)\s*$/i.exec(line)?.[1];
  return path === undefined ? undefined : unquoted(path);
}

function unquoted(path: string): string {
  return path.replace(/^(["'`])(.*)\1$/, "$2");
}
