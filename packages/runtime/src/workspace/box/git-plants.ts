import { chmodSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { armedEntries, plainConfiguration } from "./git-directory.ts";
import { entryAt, lookAt, namesIn, realPathOf, smallText } from "./host-files.ts";
import { isInside } from "../../util/is-inside.ts";

/** What is known of one deciding file: `text` is there for small ones, to put it back. */
type KnownFile = { readonly id: string; readonly text: string | undefined; readonly mode: number };
/** The deciding files of a git directory by their paths, or the one file of a link to one. */
export type KnownFiles = ReadonlyMap<string, KnownFile>;

export type GitLook = {
  readonly roots: readonly string[];
  /** All git directories below the roots, as they are now. */
  readonly gitDirectories: ReadonlySet<string>;
  /** When the command started. */
  readonly since: number;
  /** Moves what must not stay out of the way. */
  remove(path: string): Promise<void>;
};

/** More than git knows; a folder with more is taken as a whole. */
const maxHooks = 200;

/** The deciding files of a git directory; what is as it was `before` is not read again. */
export function knownOfDirectory(path: string, before?: KnownFiles): KnownFiles {
  const hooks = join(path, "hooks");
  const names = namesIn(hooks).filter((name) => !name.endsWith(".sample"));
  const isListed = entryAt(hooks) === "directory" && names.length <= maxHooks;
  const hookFiles = isListed ? names.map((name) => join(hooks, name)) : [hooks];
  const own = ["config", "config.worktree", "commondir"].map((name) => join(path, name));
  return knownOf([...hookFiles, ...own], before);
}

/** `.git` as a file or as a symbolic link. */
export function knownOfLink(path: string, before?: KnownFiles): KnownFiles {
  return knownOf([path], before);
}

/**
 * Whatever a command has written into a git directory is kept as long as git runs nothing because of it. `before` is what was known
 * when it started. A directory nobody knew is judged when the command can have made it one: its parts may have been prepared before.
 * Answers what is known from now on: the files as they were judged. What is written after that is judged at the next look.
 */
export async function disarmDirectory(path: string, before: KnownFiles | undefined, look: GitLook): Promise<KnownFiles> {
  const isTouched = (file: string): boolean => [path, dirname(file), file].some((part) => isNewer(part, look));
  const judged = new Map<string, KnownFile>();
  for (const [file, now] of knownOfDirectory(path, before)) {
    const known = before?.get(file);
    const isKept =
      isSame(now, known) || (before === undefined && !isTouched(file)) || (await isHarmless(file, { path, known, look }));
    const last = isKept ? now : known;
    if (last) judged.set(file, last);
    if (!isKept && !isConfiguration(path, file)) await putBack(file, known, look);
  }
  return judged;
}

/** Of a configuration that is not harmless, what is harmless stays. */
async function isHarmless(file: string, { path, known, look }: Suspicion): Promise<boolean> {
  if (file === join(path, "commondir")) return isWorktreeOf(path, look);
  return isConfiguration(path, file) && (await disarmConfiguration(file, known, look));
}

type Suspicion = { readonly path: string; readonly known: KnownFile | undefined; readonly look: GitLook };

function isConfiguration(path: string, file: string): boolean {
  return file === join(path, "config") || file === join(path, "config.worktree");
}

/** A file that was put back has another id than it had, and the same content. */
function isSame(now: KnownFile, known: KnownFile | undefined): boolean {
  if (known === undefined) return false;
  return now.id === known.id || (now.text !== undefined && now.text === known.text && now.mode === known.mode);
}

/** A `.git` file may lead to a worktree or a submodule of a repository that is looked after, and nowhere else. */
export async function disarmLink(path: string, before: KnownFiles | undefined, look: GitLook): Promise<KnownFiles> {
  const known = before?.get(path);
  const seen = knownOfLink(path, before);
  const now = seen.get(path);
  if (now === undefined || isSame(now, known) || (before === undefined && !isNewer(path, look))) return seen;
  const target = entryAt(path) === "file" ? /^gitdir: (.+?)\n?$/.exec(smallText(path) ?? "")?.[1] : undefined;
  const real = target === undefined ? undefined : realPathOf(resolve(dirname(path), target));
  if (real !== undefined && look.gitDirectories.has(real) && holderOf(real, look) !== undefined) return seen;
  await putBack(path, known, look);
  return before ?? new Map();
}

/** True if it can stay as it is. */
async function disarmConfiguration(path: string, known: KnownFile | undefined, look: GitLook): Promise<boolean> {
  const text = entryAt(path) === "file" ? smallText(path) : undefined;
  const allowed = new Set([...armedEntries(known?.text ?? ""), ...treeOfSubmodule(path, look)]);
  if (text !== undefined && armedEntries(text).every((entry) => allowed.has(entry))) return true;
  await look.remove(path);
  const harmless = known?.text ?? (text === undefined ? undefined : plainConfiguration(text));
  if (harmless !== undefined) writeFileSync(path, harmless, { flag: "wx" });
  return false;
}

/** A submodule's configuration says where its files are; below the same roots that is where it belongs. */
function treeOfSubmodule(path: string, look: GitLook): string[] {
  const directory = dirname(path);
  if (!directory.includes("/modules/") || holderOf(directory, look) === undefined) return [];
  const line = /^\tworktree = (.+)$/m.exec(smallText(path) ?? "");
  const tree = line?.[1] === undefined ? undefined : realPathOf(resolve(directory, line[1]));
  const isOurs = tree !== undefined && look.roots.some((root) => isInside(root, tree));
  return isOurs && line ? [`[core]\n${line[0]}`] : [];
}

async function putBack(path: string, known: KnownFile | undefined, look: GitLook): Promise<void> {
  await look.remove(path);
  if (known?.text === undefined) return;
  writeFileSync(path, known.text, { flag: "wx" });
  chmodSync(path, known.mode);
}

/** An administrative directory as `git worktree add` makes it: it belongs to the repository it lies in. */
function isWorktreeOf(path: string, look: GitLook): boolean {
  const isBelow = basename(dirname(path)) === "worktrees" && look.gitDirectories.has(dirname(dirname(path)));
  return isBelow && smallText(join(path, "commondir"))?.trim() === "../..";
}

/** The git directory in whose `modules` or `worktrees` this one lies. */
function holderOf(path: string, { gitDirectories }: GitLook): string | undefined {
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) {
    const holder = dirname(folder);
    if (["modules", "worktrees"].includes(basename(folder)) && gitDirectories.has(holder)) return holder;
  }
  return undefined;
}

function knownOf(paths: readonly string[], before?: KnownFiles): KnownFiles {
  const known = new Map<string, KnownFile>();
  for (const path of paths) {
    const stats = lookAt(path);
    if (!stats) continue;
    const id = `${stats.ino}/${stats.ctimeMs}/${stats.size}`;
    const same = before?.get(path);
    if (same?.id === id) known.set(path, same);
    else known.set(path, { id, text: stats.isFile() ? smallText(path) : undefined, mode: stats.mode & 0o777 });
  }
  return known;
}

function isNewer(path: string, { since }: GitLook): boolean {
  return (lookAt(path)?.ctimeMs ?? 0) >= since;
}
