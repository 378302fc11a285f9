import { basename, dirname, relative } from "node:path";
import { isDecidingPiece } from "./git-directory.ts";
import { disarmDirectory, disarmLink, type GitLook, type KnownFiles, knownOfDirectory, knownOfLink } from "./git-plants.ts";
import { lookAt } from "./host-files.ts";
import { isInside } from "../../util/is-inside.ts";
import { oddGitPlaces } from "./odd-names.ts";
import { putAway, putAwayBytes } from "./put-away.ts";
import { changedScripts, groupsIn, scriptsOf } from "./run-later.ts";
import { type IndexedFolder, TreeIndex } from "./tree-index.ts";

export type PlantSetting = {
  /** Real paths of the directories commands may write to. */
  readonly roots: readonly string[];
  /** Where what must not stay is moved to. */
  readonly setAside: string;
};

export type Plants = {
  /** Whole paths of what was taken out of git directories, or put back as it was. */
  readonly undone: readonly string[];
  /** Whole paths of what would have had to be, and could not. */
  readonly failed: readonly string[];
  /** What is still there and may run later, in the order in which it matters. */
  readonly listed: readonly LaterFile[];
  /** False when the project has too many directories to look at all of them. */
  readonly isWhole: boolean;
};

export type LaterFile = {
  /** From the first root. */
  readonly name: string;
  /** Of `laterGroups`. */
  readonly group: number;
  /** Of a file that is told in parts: what in it is new or different. */
  readonly scripts?: readonly string[];
};

type LaterPath = { readonly path: string; readonly group: number };
type SeenFile = LaterPath & { readonly id: string; readonly changedMs: number };
type KnownScripts = { readonly id: string; readonly scripts: Readonly<Record<string, string>> | undefined };

type Folders = ReadonlyMap<string, IndexedFolder>;

/** Dates of files come from a clock that ticks a few times in ten milliseconds. */
const tickMs = 50;
/** Of a `.git` these hold what git has stored, and nothing that it runs or believes. Elsewhere the same names may be folders to work in. */
const stores = /\/\.git(?:\/.+)?\/(?:objects|refs|logs)$/;

/** Finds what commands have left below the roots that would run outside of a box: to be asked when nothing of the box lives any more. */
export class PlantSearch {
  readonly #setting: PlantSetting;
  readonly #index: TreeIndex;
  readonly #git: Map<string, KnownFiles> = new Map();
  readonly #files: Map<string, KnownScripts> = new Map();
  /** Of folders as the index has them: most are the same from one look to the next. */
  readonly #later = new WeakMap<IndexedFolder, readonly LaterPath[]>();
  /** Files that commands have written and that would decide in a git directory, while there is none around them: never the user's. */
  readonly #pieces: Set<string> = new Set();

  constructor(setting: PlantSetting) {
    this.#setting = setting;
    this.#index = new TreeIndex(setting.roots, {
      keepsIn: (folder) => {
        const groupOf = groupsIn(this.#belowRoot(folder));
        return (name) => name === ".git" || isDecidingPiece(folder, name) || groupOf(name) !== undefined;
      },
      enters: (folder, name, isGit) => !(isGit && stores.test(`${folder}/${name}`)),
    });
  }

  /** Before a command starts: what is there now is not its work. Answers the moment, for `finish`. */
  start(): number {
    this.#remember(this.#index.refresh({ opens: false }));
    return this.moment();
  }

  /** Now, for a `finish` that is to see everything from here on. */
  moment(): number {
    return Date.now() - tickMs;
  }

  /** `isMounted`: git directories whose deciding files no command could write. What was mounted without being known is somebody's plant. */
  async finish(since: number, isMounted: (path: string) => boolean): Promise<Plants> {
    const wasThere = this.#index.look();
    const folders = this.#index.refresh({ opens: true });
    const undone: string[] = [];
    const look: GitLook = {
      roots: this.#setting.roots,
      gitDirectories: new Set(gitDirectoriesIn(folders)),
      since,
      remove: async (path) => {
        await putAway(path, this.#setting.setAside);
        undone.push(path);
      },
    };
    const isProtected = (path: string): boolean => this.#git.has(path) && isMounted(path);
    const failed: string[] = [];
    const orTell = async (path: string, done: Promise<void>): Promise<void> => {
      await done.catch(() => failed.push(path));
    };
    const judged = new Map<string, KnownFiles>();
    const judge = async (path: string, disarm: typeof disarmDirectory): Promise<void> => {
      if (isProtected(path)) return;
      const before = this.#git.get(path);
      judged.set(path, before ?? new Map()); // where it fails, it is judged again at the next look
      await orTell(
        path,
        disarm(path, before, look).then((known) => void judged.set(path, known)),
      );
    };
    for (const place of [...folders].flatMap(([path, { isOdd }]) => (isOdd ? oddGitPlaces(path, since) : []))) {
      await orTell(place.toString("utf8"), putAwayBytes(place, this.#setting.setAside));
      undone.push(place.toString("utf8"));
    }
    for (const path of look.gitDirectories) await judge(path, disarmDirectory);
    for (const path of linksIn(folders)) await judge(path, disarmLink);
    if (this.#index.isFlooded) failed.push("what is in the deepest of more directories than can be looked at");
    const later = this.#lookLater(folders);
    const listed = this.#listLater(later, { folders, since, wasThere });
    for (const path of piecesIn(folders)) {
      const file = idOf(path);
      if (file && file.changedMs >= since) this.#pieces.add(file.id);
    }
    this.#remember(folders, { later, judged });
    return { undone, failed, listed, isWhole: this.#index.isWhole || this.#index.isFlooded };
  }

  #listLater(
    files: readonly SeenFile[],
    { folders, since, wasThere }: { folders: Folders; since: number; wasThere: Folders },
  ): LaterFile[] {
    const isNewFolder = (path: string): boolean => wasThere.get(path)?.inode !== folders.get(path)?.inode;
    /** A folder that was moved here has brought its files as old as they were. */
    const isMoved = (path: string): boolean => {
      const folder = dirname(path);
      if (folder === path || !folders.has(folder)) return false;
      return (isNewFolder(folder) && (folders.get(folder)?.changedMs ?? 0) >= since) || isMoved(folder);
    };
    const found = files.flatMap(({ path, group, id, changedMs }) => {
      const known = this.#files.get(path);
      if (id === known?.id) return [];
      if (changedMs < since && (known !== undefined || !isMoved(path))) return [];
      const name = relative(this.#setting.roots[0] ?? "/", path);
      const later = { name, group, isInNewFolder: isNewFolder(dirname(path)), depth: path.split("/").length };
      const scripts = scriptsOf(path);
      if (scripts === undefined) return [later];
      const changed = changedScripts(known?.scripts ?? {}, scripts);
      return changed.length === 0 ? [] : [{ ...later, scripts: changed }];
    });
    // Where the user goes without knowing of the command comes before folders that it made.
    return found.sort(
      (a, b) =>
        a.group - b.group || Number(a.isInNewFolder) - Number(b.isInNewFolder) || a.depth - b.depth || (a.name < b.name ? -1 : 1),
    );
  }

  #lookLater(folders: Folders): SeenFile[] {
    const found: SeenFile[] = [];
    for (const [at, folder] of folders) {
      if (folder.files.length === 0) continue;
      for (const { path, group } of this.#laterFilesOf(at, folder)) {
        const file = idOf(path);
        if (file) found.push({ path, group, ...file });
      }
    }
    return found;
  }

  #laterFilesOf(path: string, folder: IndexedFolder): readonly LaterPath[] {
    const known = this.#later.get(folder);
    if (known) return known;
    const groupOf = groupsIn(this.#belowRoot(path));
    const found = folder.files.flatMap((file) => {
      const name = basename(file);
      const group = name === ".git" ? undefined : groupOf(name);
      return group === undefined ? [] : [{ path: file, group }];
    });
    this.#later.set(folder, found);
    return found;
  }

  /** From the name of the root on: what a project lies in says nothing about its files. */
  #belowRoot(folder: string): string {
    const root = this.#setting.roots.find((one) => isInside(one, folder)) ?? "/";
    return `/${basename(root)}/${relative(root, folder)}`.replace(/\/$/, "");
  }

  /** `judged`: programs that live on may have written since, so that it is not read again. */
  #remember(
    folders: Folders,
    { later = this.#lookLater(folders), judged }: { later?: readonly SeenFile[]; judged?: ReadonlyMap<string, KnownFiles> } = {},
  ): void {
    const git = new Map(this.#git);
    this.#git.clear();
    for (const path of gitDirectoriesIn(folders))
      this.#git.set(path, this.#withoutPieces(judged?.get(path) ?? knownOfDirectory(path, git.get(path))));
    for (const path of linksIn(folders)) this.#git.set(path, judged?.get(path) ?? knownOfLink(path, git.get(path)));
    const before = new Map(this.#files);
    this.#files.clear();
    for (const { path, id } of later) {
      const known = before.get(path);
      this.#files.set(path, known?.id === id ? known : { id, scripts: scriptsOf(path) });
    }
  }

  /** Whoever completes a git directory around what a command prepared has not made that their own: it is judged after the next command. */
  #withoutPieces(known: KnownFiles): KnownFiles {
    if (this.#pieces.size === 0) return known;
    return new Map([...known].filter(([, { id }]) => !this.#pieces.has(id)));
  }
}

function gitDirectoriesIn(folders: Folders): string[] {
  return [...folders].flatMap(([path, { isGit }]) => (isGit ? [path] : []));
}

function linksIn(folders: Folders): string[] {
  return filesIn(folders).filter((path) => basename(path) === ".git");
}

/** What lies in a git directory is judged as such. */
function piecesIn(folders: Folders): string[] {
  const isJudged = (folder: string): boolean => folders.get(folder)?.isGit ?? false;
  return filesIn(folders).filter((path) => {
    const folder = dirname(path);
    if (!isDecidingPiece(folder, basename(path)) || isJudged(folder)) return false;
    return !(basename(folder) === "hooks" && isJudged(dirname(folder)));
  });
}

function filesIn(folders: Folders): string[] {
  const found: string[] = [];
  for (const { files } of folders.values()) found.push(...files);
  return found;
}

function idOf(path: string): { id: string; changedMs: number } | undefined {
  const stats = lookAt(path);
  return stats && { id: `${stats.ino}/${stats.ctimeMs}/${stats.size}`, changedMs: stats.ctimeMs };
}
