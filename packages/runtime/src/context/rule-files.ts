import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";

/** Where a folder keeps rules: instructions in files of their own, some of them for some files only. */
export const ruleFolders: readonly string[] = [join(".outrider", "rules"), join(".claude", "rules")];

const maxFiles = 200;
const maxDepth = 8;

/** The Markdown files below a folder, in their order; none where there is no such folder. */
export function ruleFilesIn(folder: string, depth = 0): string[] {
  const found = entriesOf(folder).flatMap((entry): string[] => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth < maxDepth ? ruleFilesIn(path, depth + 1) : [];
    return entry.name.endsWith(".md") ? [path] : [];
  });
  return found.slice(0, maxFiles);
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return []; // hardly any folder has some
  }
}

export type Rule = {
  /** Which files it is for, as its head says it; undefined for all of them. */
  readonly paths: string | undefined;
  /** What it says. */
  readonly body: string;
};

/** Of its head only `paths` counts. */
export function readRule(text: string): Rule {
  const [whole = "", head = ""] = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m.exec(text) ?? [];
  if (whole === "" || !text.startsWith(whole)) return { paths: undefined, body: text };
  return { paths: /^paths:.*(?:\r?\n[ \t]*-.*)*/m.exec(head)?.[0], body: text.slice(whole.length) };
}
