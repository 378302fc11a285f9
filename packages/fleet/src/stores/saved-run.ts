import { randomUUID } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder } from "@outrider/runtime/host";
import { type ObjectStore, StoreFailed, toKeyPart } from "./object-store.ts";
import { restoreTree, type SavedTree, saveTree } from "./saved-tree.ts";

/** Where a run is on this machine. */
export type RunPlace = {
  readonly runId: string;
  /** Journals and side files: everything in here is kept. Files only grow, or are written once. */
  readonly journalFolder: string;
  /** The working tree; nothing of it is kept when absent. */
  readonly tree?: string | undefined;
  /** Of our own. */
  readonly gitFolder: string;
};

/** Bytes of a file: in the object of this name, so many from `at` on. */
type Piece = { readonly in: string; readonly at: number; readonly bytes: number };

type SavedFile = { readonly bytes: number; readonly pieces: readonly Piece[] };

/**
 * A run as it was after a step: one object, which begins with this as a line of JSON. What was new is behind that line, the rest in the objects
 * of earlier steps.
 */
export type SavedRun = {
  readonly version: 2;
  readonly files: Readonly<Record<string, SavedFile>>;
  readonly tree?: SavedTree | undefined;
};

/** Saved under a key that is never used again: which one counts is for the engine to say. */
export type KeptRun = { readonly key: string; readonly saved: SavedRun };

/** What the store has already; without a key where that is not in one object. */
export type KnownRun = { readonly key: string | undefined; readonly saved: SavedRun };

/** So many pieces of a file become one again. */
const maxPieces = 64;

/**
 * Only what has changed since `before` travels. Answers where it is found again: where nothing has changed that is `before`, and undefined while
 * there is nothing at all. `name` is a key within the run; any new one when absent.
 */
export async function saveRun(
  store: ObjectStore,
  place: RunPlace,
  before?: KnownRun | undefined,
  name: string = `saved-${randomUUID()}`,
): Promise<KeptRun | undefined> {
  const prefix = prefixOf(place.runId);
  const known = before?.saved.files ?? {};
  const added: Buffer[] = [];
  let at = 0;
  const files: Record<string, SavedFile> = {};
  for (const file of filesOf(place.journalFolder)) {
    const old = known[file];
    const path = join(place.journalFolder, file);
    const { size } = statSync(path);
    if (old?.bytes === size) {
      files[file] = old;
      continue;
    }
    const grows = old !== undefined && old.bytes < size && old.pieces.length < maxPieces;
    const piece = readFrom(path, grows ? old.bytes : 0, size);
    const own = { in: name, at, bytes: piece.length };
    files[file] = { bytes: size, pieces: grows ? [...old.pieces, own] : [own] };
    added.push(piece);
    at += piece.length;
  }
  const { tree, gitFolder } = place;
  const savedTree = tree === undefined ? undefined : await saveTree({ store, prefix, tree, gitFolder }, before?.saved.tree);
  const isSame =
    added.length === 0 && Object.keys(known).length === Object.keys(files).length && savedTree === before?.saved.tree;
  if (isSame && before === undefined) return undefined;
  if (isSame && before?.key !== undefined) return { key: before.key, saved: before.saved };
  const saved: SavedRun = { version: 2, files, ...(savedTree && { tree: savedTree }) };
  const key = `${prefix}/${name}`;
  await store.put(key, Buffer.concat([Buffer.from(`${JSON.stringify(saved)}\n`), ...added]));
  return { key, saved };
}

/** Makes this machine's folders what they were. What another attempt left here gives way. */
export async function restoreRun(store: ObjectStore, place: RunPlace, key: string): Promise<KeptRun> {
  const { journalFolder, tree, gitFolder, runId } = place;
  await rm(journalFolder, { recursive: true, force: true });
  makeFolder(journalFolder);
  const { saved, contents } = await readRun(store, runId, key);
  for (const [name, whole] of contents) {
    const path = join(journalFolder, ...name.split("/"));
    makeFolder(dirname(path));
    await writeFile(path, whole, { mode: 0o600 });
  }
  if (tree !== undefined && saved.tree) await restoreTree({ store, prefix: prefixOf(runId), tree, gitFolder }, saved.tree);
  return { key, saved };
}

/** Its files by their names, without writing them anywhere. */
export async function readRun(
  store: ObjectStore,
  runId: string,
  key: string,
): Promise<{ saved: SavedRun; contents: ReadonlyMap<string, Buffer> }> {
  const prefix = prefixOf(runId);
  const top = await fetched(store, key);
  const saved = parseSaved(top, key);
  const own = key.slice(prefix.length + 1);
  const names = new Set(Object.values(saved.files).flatMap(({ pieces }) => pieces.map((piece) => piece.in)));
  names.delete(own);
  const objects = new Map([[own, top]]);
  await Promise.all([...names].map(async (name) => void objects.set(name, await fetched(store, `${prefix}/${name}`))));
  const contents = new Map<string, Buffer>();
  for (const [name, { bytes, pieces }] of Object.entries(saved.files)) {
    const whole = Buffer.concat(pieces.map((piece) => cut(objects.get(piece.in) ?? Buffer.alloc(0), piece)));
    if (whole.length !== bytes) throw new StoreFailed(`${name} of ${key} is not as long as it was`);
    contents.set(name, whole);
  }
  return { saved, contents };
}

/** Everything that was ever saved of it. */
export async function removeRun(store: ObjectStore, runId: string): Promise<void> {
  for (const key of await store.list(`${prefixOf(runId)}/`)) await store.remove(key);
}

export function prefixOf(runId: string): string {
  return `runs/${runId.split("/").map(toKeyPart).join("~")}`;
}

async function fetched(store: ObjectStore, key: string): Promise<Buffer> {
  const bytes = await store.get(key);
  if (!bytes) throw new StoreFailed(`${key} is missing in the ${store.place}`);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function parseSaved(object: Buffer, key: string): SavedRun {
  const saved = JSON.parse(object.toString("utf8", 0, bodyOf(object))) as SavedRun; // of our own writing, of this or another version
  if (saved.version === 2) return saved;
  throw new StoreFailed(`${key} is of another version of outrider`);
}

function cut(object: Buffer, { at, bytes }: Piece): Buffer {
  const from = bodyOf(object) + at;
  return object.subarray(from, from + bytes);
}

/** Behind the line of JSON. */
function bodyOf(object: Buffer): number {
  return object.indexOf(10) + 1;
}

/** Locks belong to this machine, and what is half written is nobody's yet. Synchronous: a few names, which the system has in memory. */
function filesOf(folder: string, within = ""): string[] {
  return readdirSync(join(folder, within), { withFileTypes: true })
    .flatMap((entry) => {
      const name = within === "" ? entry.name : `${within}/${entry.name}`;
      if (entry.isDirectory()) return filesOf(folder, name);
      return entry.isFile() && !/\.(?:lock|tmp)\b/.test(entry.name) && entry.name !== "index.json" ? [name] : [];
    })
    .sort();
}

function readFrom(path: string, from: number, to: number): Buffer {
  if (from === 0) return readFileSync(path).subarray(0, to);
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(to - from);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from));
  } finally {
    closeSync(file);
  }
}
