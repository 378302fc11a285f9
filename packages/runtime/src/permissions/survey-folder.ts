import { isTold, type ListFolder } from "./glob-words.ts";
import type { ResolvePath } from "./policy.ts";
import { isOddName, type Needs } from "./shell-words.ts";

const maxEntries = 30_000;

type Survey = {
  readonly list: ListFolder;
  readonly resolve: ResolvePath;
  /** May a link lead there? */
  readonly mayLead: (path: string) => boolean;
};

/** Why some file below a folder may be another one than its name says, or be taken for something else. Looks at a bounded number of files. */
export async function surveyFolder(folder: string, needs: Needs, survey: Survey): Promise<string | undefined> {
  if (!needs.links && !needs.names) return undefined;
  if (needs.names && needs.path && isOddName(folder)) return `${folder} would be taken apart`;
  const folders = [folder];
  let seen = 0;
  for (const current of folders) {
    const entries = await survey.list(current);
    if (!entries) continue;
    seen += entries.length;
    if (seen > maxEntries) return `there are more than ${maxEntries} files below ${folder}`;
    for (const { name, kind } of entries) {
      const path = `${current}/${name}`;
      if (kind !== "directory" && !mayFit(name, needs.only)) continue;
      if (kind !== "file" && !isTold(name)) return `${path} has a name that is no text`;
      if (needs.names && (isOddName(name) || name.startsWith("-"))) return `${path} would be taken apart, or for an option`;
      if (kind === "directory" && !needs.shallow) folders.push(path);
      if (kind === "symlink" && needs.links && !(await leadsWell(path, survey))) return `${path} is a link that leads elsewhere`;
    }
  }
  return undefined;
}

/** Could a name fit a pattern of `find`? `?` may stand for a part of a letter, and small letters for large ones. */
function mayFit(name: string, pattern: string | undefined): boolean {
  if (pattern === undefined) return true;
  const parts = pattern.toLowerCase().split(/[*?]+/);
  const [first = "", last = ""] = [parts[0], parts.at(-1)];
  const lower = name.toLowerCase();
  return parts.length === 1 ? lower === first : lower.startsWith(first) && lower.endsWith(last);
}

async function leadsWell(path: string, { resolve, mayLead }: Survey): Promise<boolean> {
  try {
    return mayLead(await resolve(path));
  } catch {
    return false;
  }
}
