import { type Dirent, readdirSync, type Stats } from "node:fs";
import { isGitByName } from "./git-directory.ts";
import { lookAt } from "./host-files.ts";
import { openFolder } from "./put-away.ts";

/** One directory as it was last looked at. Paths are whole. */
export type IndexedFolder = {
  readonly inode: number;
  readonly changedMs: number;
  /** It was changed just before it was looked at: a change in the same tick of the clock would not show. */
  readonly isFresh: boolean;
  readonly folders: readonly string[];
  /** Files and links that were asked for. */
  readonly files: readonly string[];
  readonly isGit: boolean;
  /** Some names in it are no text, so that no path leads there. */
  readonly isOdd: boolean;
};

export type TreeFilter = {
  /** For one folder: is this file, or this link, to be kept in the index? */
  keepsIn(folder: string): (name: string) => boolean;
  /** Is this folder to be looked into? `isGit`: what it lies in is a git directory. */
  enters(folder: string, name: string, isGit: boolean): boolean;
};

const freshMs = 50;
/** Of a project as the user has it: some 0.2 s for each look at all of them. */
const maxFolders = 50_000;
/** Commands can make many to hide one among them: a longer look is their own time. */
const maxWithNew = 250_000;

/** The directories below some roots. A second look reads only those whose names have changed: the kernel dates each, and no program can set that date. */
export class TreeIndex {
  readonly #roots: readonly string[];
  readonly #filter: TreeFilter;
  #folders: Map<string, IndexedFolder> = new Map();
  #most = maxFolders;
  /** False when there is more than is looked at: `isFlooded` when that came about later. */
  isWhole = true;
  isFlooded = false;

  constructor(roots: readonly string[], filter: TreeFilter) {
    this.#roots = roots;
    this.#filter = filter;
  }

  /** As it was at the last refresh. */
  look(): ReadonlyMap<string, IndexedFolder> {
    return this.#folders;
  }

  /** `opens`: a command may have closed folders to be looked into; its owner's programs would still find what it put there. */
  refresh({ opens }: { opens: boolean }): ReadonlyMap<string, IndexedFolder> {
    const found = new Map<string, IndexedFolder>();
    const now = Date.now();
    const open = [...this.#roots];
    // The loop also walks what it appends. Breadth first: what lies near the top counts most where there is too much.
    for (const path of open) {
      if (found.size >= this.#most) break;
      const stats = lookAt(path);
      if (!stats?.isDirectory() || found.has(path)) continue;
      const before = this.#folders.get(path);
      const isSame = before && !before.isFresh && before.inode === stats.ino && before.changedMs === stats.ctimeMs;
      if (!isSame && opens) openFolder(path, stats.mode, 0o500);
      const folder = isSame ? before : this.#read(path, stats, now);
      found.set(path, folder);
      for (const inner of folder.folders) open.push(inner);
    }
    this.isWhole = found.size < this.#most;
    this.isFlooded = !this.isWhole && this.#most === maxWithNew;
    if (this.isWhole) this.#most = maxWithNew;
    this.#folders = found;
    return found;
  }

  #read(path: string, stats: Stats, now: number): IndexedFolder {
    const entries = entriesOf(path);
    const names = new Set(entries.map(({ name }) => name));
    const isGit = isGitByName(path, (name) => names.has(name));
    const keeps = this.#filter.keepsIn(path);
    const at = (name: string): string => (path.endsWith("/") ? `${path}${name}` : `${path}/${name}`);
    return {
      inode: stats.ino,
      changedMs: stats.ctimeMs,
      isFresh: stats.ctimeMs > now - freshMs,
      isGit,
      isOdd: entries.some(({ name }) => name.includes("\ufffd")),
      folders: entries
        .filter((entry) => entry.isDirectory() && this.#filter.enters(path, entry.name, isGit))
        .map(({ name }) => at(name)),
      files: entries.filter((entry) => !entry.isDirectory() && keeps(entry.name)).map(({ name }) => at(name)),
    };
  }
}

function entriesOf(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}
