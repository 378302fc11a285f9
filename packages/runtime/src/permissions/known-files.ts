import { basename, dirname } from "node:path";
import type { FolderEntry, ListFolder } from "./glob-words.ts";
import type { ResolvePath } from "./policy.ts";

/** Each path once: the same folder is behind most words of a command. */
function remembering<Found>(find: (path: string) => Promise<Found>): (path: string) => Promise<Found> {
  const known = new Map<string, Promise<Found>>();
  return (path) => {
    const found = known.get(path) ?? find(path);
    known.set(path, found);
    return found;
  };
}

/** The file system as one decision sees it. What a folder was seen to hold, and is no link, is where its name says: nobody is asked again. */
export function knownFiles(
  resolve: ResolvePath,
  list: ListFolder | undefined,
): { readonly resolve: ResolvePath; readonly list: ListFolder | undefined } {
  const real = new Set<string>();
  const listed = new Map<string, ReadonlyMap<string, FolderEntry["kind"]>>();
  const isPlain = (path: string): boolean => {
    const folder = dirname(path);
    const kind = real.has(folder) ? listed.get(folder)?.get(basename(path)) : undefined;
    return kind === "file" || kind === "directory";
  };
  return {
    resolve: remembering(async (path) => {
      const found = isPlain(path) ? path : await resolve(path);
      real.add(found);
      return found;
    }),
    list:
      list &&
      remembering(async (folder) => {
        const entries = await list(folder);
        if (entries) listed.set(folder.replace(/(?<=.)\/+$/, ""), new Map(entries.map(({ name, kind }) => [name, kind])));
        return entries;
      }),
  };
}
