import { createHash, randomUUID } from "node:crypto";
import { open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
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

/** A run as it was after a step. Saved under a name that is never used again: which one counts is for the engine to say. */
export type SavedRun = {
  readonly version: 1;
  readonly files: Readonly<Record<string, { readonly bytes: number; readonly pieces: readonly string[] }>>;
  readonly tree?: SavedTree | undefined;
};

/** So many pieces of a file become one again. */
const maxPieces = 64;

/** Only what has changed since `before` travels. Answers the key under which it is found again. */
export async function saveRun(
  store: ObjectStore,
  place: RunPlace,
  before?: SavedRun | undefined,
): Promise<{ key: string; saved: SavedRun }> {
  const prefix = prefixOf(place.runId);
  const files: Record<string, { bytes: number; pieces: readonly string[] }> = {};
  for (const name of await filesOf(place.journalFolder)) {
    const known = before?.files[name];
    const { size } = await stat(join(place.journalFolder, name));
    if (known && known.bytes === size) {
      files[name] = known;
      continue;
    }
    const grows = known !== undefined && known.bytes < size && known.pieces.length < maxPieces;
    const from = grows ? known.bytes : 0;
    const piece = await readFrom(join(place.journalFolder, name), from, size);
    const key = `${prefix}/files/${createHash("sha256").update(piece).digest("hex")}`;
    await store.put(key, piece);
    files[name] = { bytes: size, pieces: grows ? [...known.pieces, key] : [key] };
  }
  const { tree, gitFolder } = place;
  const saved: SavedRun = {
    version: 1,
    files,
    ...(tree !== undefined && { tree: await saveTree({ store, prefix, tree, gitFolder }, before?.tree) }),
  };
  const key = `${prefix}/saved/${randomUUID()}`;
  await store.put(key, Buffer.from(JSON.stringify(saved)));
  return { key, saved };
}

/** Makes this machine's folders what they were. What another attempt left here gives way. */
export async function restoreRun(store: ObjectStore, place: RunPlace, key: string): Promise<SavedRun> {
  const saved = parseSaved(await fetched(store, key), key);
  await rm(place.journalFolder, { recursive: true, force: true });
  makeFolder(place.journalFolder);
  for (const [name, { bytes, pieces }] of Object.entries(saved.files)) {
    const whole = Buffer.concat(await Promise.all(pieces.map((piece) => fetched(store, piece))));
    if (whole.length !== bytes) throw new StoreFailed(`${name} of ${key} is not as long as it was`);
    const path = join(place.journalFolder, ...name.split("/"));
    makeFolder(dirname(path));
    await writeFile(path, whole, { mode: 0o600 });
  }
  const { tree, gitFolder } = place;
  if (tree !== undefined && saved.tree) await restoreTree({ store, prefix: prefixOf(place.runId), tree, gitFolder }, saved.tree);
  return saved;
}

/** Everything that was ever saved of it. */
export async function removeRun(store: ObjectStore, runId: string): Promise<void> {
  for (const key of await store.list(`${prefixOf(runId)}/`)) await store.remove(key);
}

export function prefixOf(runId: string): string {
  return `runs/${runId.split("/").map(toKeyPart).join("~")}`;
}

async function fetched(store: ObjectStore, key: string): Promise<Uint8Array> {
  const bytes = await store.get(key);
  if (!bytes) throw new StoreFailed(`${key} is missing in the ${store.place}`);
  return bytes;
}

function parseSaved(bytes: Uint8Array, key: string): SavedRun {
  const saved = JSON.parse(Buffer.from(bytes).toString()) as SavedRun; // of our own writing, of this or a later version
  if (saved.version === 1) return saved;
  throw new StoreFailed(`${key} is of a later version of outrider`);
}

/** Locks belong to this machine, and what is half written is nobody's yet. */
async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !/\.(?:lock|tmp)\b/.test(entry.name) && entry.name !== "index.json")
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}

async function readFrom(path: string, from: number, to: number): Promise<Buffer> {
  if (from === 0) return (await readFile(path)).subarray(0, to);
  const file = await open(path, "r");
  try {
    const bytes = Buffer.alloc(to - from);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
