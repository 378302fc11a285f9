import { type Dirent, readdirSync } from "node:fs";
import { isGitByName } from "./git-directory.ts";
import { lookAt } from "./host-files.ts";

const slash = Buffer.from("/");

/**
 * Git directories, and files and links that lead to some, below folders whose names are no text and were changed since. They cannot
 * be told by a path, so they are found as bytes.
 */
export function oddGitPlaces(folder: string, since: number): Buffer[] {
  const found: Buffer[] = [];
  const open = oddFoldersIn(folder);
  // The loop also walks what it appends.
  for (const path of open) {
    const entries = entriesOf(path);
    const names = new Map(entries.map((entry) => [entry.name.toString("latin1"), entry]));
    const link = names.get(".git");
    if (isGitByName(path.toString("latin1"), (name) => names.has(name))) found.push(path);
    else if (link && !link.isDirectory()) found.push(within(path, link.name));
    else open.push(...entries.filter((entry) => entry.isDirectory()).map(({ name }) => within(path, name)));
  }
  return found.filter((path) => isNewer(path, since));
}

function oddFoldersIn(folder: string): Buffer[] {
  const path = Buffer.from(folder);
  const isOdd = ({ name }: Dirent<Buffer>): boolean => !Buffer.from(name.toString("utf8")).equals(name);
  return entriesOf(path)
    .filter((entry) => entry.isDirectory() && isOdd(entry))
    .map(({ name }) => within(path, name));
}

/** Or anything right in it: what is written into a file does not date the folder. */
function isNewer(path: Buffer, since: number): boolean {
  const all = [path, ...entriesOf(path).map(({ name }) => within(path, name))];
  return all.some((part) => (lookAt(part)?.ctimeMs ?? 0) >= since);
}

function within(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, slash, name]);
}

function entriesOf(path: Buffer): Dirent<Buffer>[] {
  try {
    return readdirSync(path, { withFileTypes: true, encoding: "buffer" }) as unknown as Dirent<Buffer>[]; // as Node declares it from version 22 on
  } catch {
    return [];
  }
}
