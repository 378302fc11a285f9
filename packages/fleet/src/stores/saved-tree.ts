import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "@outrider/runtime/host";
import type { ObjectStore } from "./object-store.ts";
import { openPrivateGit, type RunGit } from "./private-git.ts";

/**
 * A folder as it was: packs of git objects, each with what changed since the one before it. What the folder's ignore rules leave out is not
 * kept, nor is the inside of `.git`.
 */
export type SavedTree = { readonly commit: string; readonly packs: readonly string[] };

/** So many packs become one again. */
const maxPacks = 40;
const savedRef = "refs/outrider/saved";

export type TreePlace = {
  readonly store: ObjectStore;
  /** Of the run, in the store. */
  readonly prefix: string;
  /** The working tree. */
  readonly tree: string;
  /** A folder of our own on this machine, not in the tree. */
  readonly gitFolder: string;
};

/** Keeps the folder as it is now. Answers what was saved before where nothing has changed since. */
export async function saveTree(place: TreePlace, before: SavedTree | undefined): Promise<SavedTree> {
  const git = await openPrivateGit(place.gitFolder, place.tree);
  await git("add", "--all", ".");
  const tree = await git("write-tree");
  if (before && tree === (await git("rev-parse", `${before.commit}^{tree}`))) return before;
  const whole = before === undefined || before.packs.length >= maxPacks;
  const parent = before ? ["-p", before.commit] : [];
  const commit = await git("commit-tree", ...(whole ? [] : parent), "-m", "saved", tree);
  await git("update-ref", savedRef, commit);
  const file = join(place.gitFolder, "pack.bundle");
  await git("bundle", "create", "--quiet", file, savedRef, ...(whole || !before ? [] : [`^${before.commit}`]));
  const bytes = await readFile(file);
  const key = `${place.prefix}/trees/${createHash("sha256").update(bytes).digest("hex")}`;
  await place.store.put(key, bytes);
  await rm(file, { force: true });
  return { commit, packs: whole || !before ? [key] : [...before.packs, key] };
}

/** Makes the folder what it was. Files that were not there then go away, except what is ignored. */
export async function restoreTree(place: TreePlace, saved: SavedTree): Promise<void> {
  makeFolder(place.tree, 0o777);
  const git = await openPrivateGit(place.gitFolder, place.tree);
  if (!(await has(git, saved.commit))) await fetchPacks(place, git, saved);
  await git("add", "--all", ".");
  const now = await git("write-tree");
  await git("read-tree", "-m", "-u", now, saved.commit);
  await git("update-ref", savedRef, saved.commit);
}

async function fetchPacks({ store, gitFolder }: TreePlace, git: RunGit, { packs }: SavedTree): Promise<void> {
  const file = join(gitFolder, "pack.bundle");
  for (const key of packs) {
    const bytes = await store.get(key);
    if (!bytes) throw new Error(`${key} is missing in the ${store.place}`);
    await writeFile(file, bytes, { mode: 0o600 });
    await git("fetch", "--quiet", "--no-write-fetch-head", file, `+${savedRef}:${savedRef}`);
  }
  await rm(file, { force: true });
}

async function has(git: RunGit, commit: string): Promise<boolean> {
  return await git("cat-file", "-e", `${commit}^{commit}`).then(
    () => true,
    () => false,
  );
}
