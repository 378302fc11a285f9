import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

type Callable = (...args: unknown[]) => unknown;

/**
 * For tests: calls `before` ahead of every operation of this process that changes files, with its name.
 * What `before` throws is what the operation fails with. Answers how to stop.
 */
export async function beforeEachChange(before: (operation: string) => void): Promise<() => void> {
  const handle = await fs.promises.open(process.execPath, "r");
  const handles = Object.getPrototypeOf(handle) as object; // all handles share it
  await handle.close();
  const restore = [
    ...["mkdirSync", "writeSync", "fsyncSync", "ftruncateSync", "renameSync", "openSync"].map((name) => wrap(fs, name, before)),
    ...["open", "rename", "unlink", "rmdir", "rm", "symlink"].map((name) => wrap(fs.promises, name, before)),
    ...["write", "sync", "chmod", "truncate"].map((name) => wrap(handles, name, before)),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const undo of restore) undo();
    syncBuiltinESMExports();
  };
}

function wrap(holder: object, name: string, before: (operation: string) => void): () => void {
  const original = Reflect.get(holder, name) as Callable; // each name is one of a function
  const isAsync = !name.endsWith("Sync");
  Reflect.set(holder, name, function wrapped(this: unknown, ...args: unknown[]): unknown {
    try {
      before(name);
    } catch (error) {
      if (isAsync) return Promise.reject(error);
      throw error;
    }
    return original.apply(this, args);
  });
  return () => Reflect.set(holder, name, original);
}
