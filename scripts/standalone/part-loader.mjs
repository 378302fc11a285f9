// Part of the standalone command: where it finds its own parts and modules of the runtime, and nothing else: no file of the folder that the
// command happens to run in.
import { sortFolders } from "./sorted-folders.mjs";

/**
 * The command starts with compilers that wait 30 times as long as usual (build-standalone.mjs), because a short run executes most of its code
 * once. A run that takes longer than this gets the usual compilers. A very long loop is compiled even before.
 */
setTimeout(() => Bun.unsafe.setJITPolicy(1), 1_000).unref();

/** Modules that list folders and were not asked for yet. */
const foldersOf = new Set(["node:fs", "node:fs/promises"]);

/** Stands for `require`. */
export function requireBuiltin(id) {
  const module = process.getBuiltinModule(id);
  if (module === undefined) throw new Error(`There is no module ${id}`);
  if (!foldersOf.delete(id)) return module;
  return sortFolders(module);
}

/** What a file of the build holds: here, of each part, the part alone. `others` gives the parts that are not among the `first`. */
export function createPartReader(first, others) {
  let rest;
  return (file) => {
    const name = `./${file.replace(/\.cjs$/, ".js")}`;
    if (!first[name]) rest ??= others();
    const part = first[name] ?? rest[name];
    if (!part) throw new Error(`There is no part ${name}`);
    return { [name]: part };
  };
}
