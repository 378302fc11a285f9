import { randomUUID } from "node:crypto";
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { makeFolder } from "@outrider/runtime/host";
import { checkKey, type ObjectStore } from "./object-store.ts";

/** A folder that all workers see: of one machine, or one that is mounted on all of them. */
export function openFolderStore(folder: string): ObjectStore {
  const objects = join(folder, "objects");
  const incoming = join(folder, "incoming");
  const pathOf = (key: string): string => join(objects, `${checkKey(key)}${suffix}`);
  return {
    place: `folder ${folder}`,
    get: (key) => readFile(pathOf(key)).catch(ifMissing(undefined)),
    async put(key, bytes) {
      const path = pathOf(key);
      const written = join(incoming, randomUUID());
      try {
        await withFolder(incoming, () => writeToDisk(written, bytes));
        await withFolder(dirname(path), () => rename(written, path));
      } catch (error) {
        await rm(written, { force: true });
        throw error;
      }
    },
    has: (key) => stat(pathOf(key)).then((found) => found.isFile(), ifMissing(false)),
    async list(prefix) {
      const top = join(objects, prefix.slice(0, prefix.lastIndexOf("/") + 1));
      const found = await readdir(top, { recursive: true, withFileTypes: true }).catch(ifMissing([]));
      const keys = found
        .filter((entry) => entry.isFile() && entry.name.endsWith(suffix))
        .map((entry) => relative(objects, join(entry.parentPath, entry.name)).split(sep).join("/").slice(0, -suffix.length));
      return keys.filter((key) => key.startsWith(prefix)).sort();
    },
    remove: (key) => rm(pathOf(key), { force: true }),
    close: async () => {},
  };
}

async function writeToDisk(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** The folder is mostly there. */
async function withFolder(folder: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (Object(error).code !== "ENOENT") throw error;
    makeFolder(folder);
    await act();
  }
}

/** An object may be called like the folder of others. */
const suffix = ".object";

function ifMissing<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return value;
    throw error;
  };
}
