import { isInside } from "../util/is-inside.ts";
import type { ReadCheck } from "../permissions/read-check.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { Workspace } from "../workspace/workspace.ts";

/**
 * The workspace for a call that was given permission for exactly `paths`, files or folders: it changes those, reads those and
 * what is in them, and nothing else. A link that was swapped since leads nowhere: what is opened is checked once it is open.
 * Programs open files by themselves: around their run the paths are looked at, and what they said is thrown away on a swap.
 * `mayRead` says which files in a folder stay closed all the same.
 */
export function forApprovedFiles(workspace: Workspace, paths: readonly string[], mayRead?: ReadCheck): Workspace {
  const approve = async (path: string, isApproved: (real: string) => boolean): Promise<string> => {
    if (paths.includes(path)) return path;
    const real = await workspace.resolve(path);
    if (isApproved(real)) return real;
    throw notApproved(path, real);
  };
  const isWithin = (real: string): boolean => paths.some((approved) => isInside(approved, real));
  // What is ignored in a folder decides what is found there and is never shown.
  const isOpen = (real: string): boolean => isWithin(real) && (!mayRead || mayRead(real) || real.endsWith("/.gitignore"));
  const requireUnmoved = async (): Promise<void> => {
    for (const path of paths) {
      const real = await workspace.resolve(path);
      if (real !== path) throw notApproved(path, real);
    }
  };

  const bound: Partial<Workspace> = {
    async stat(path) {
      if (isAbove(path, paths, /\/\.git$/)) return await workspace.stat(path);
      return await workspace.stat(await approve(path, isWithin), { exact: true });
    },
    async readFile(path, options) {
      const isRules = isAbove(path, paths, /\/\.git(?:ignore|\/info\/exclude)$/);
      return await workspace.readFile(isRules ? path : await approve(path, isOpen), { ...options, exact: true });
    },
    async writeFile(path, content, use) {
      await workspace.writeFile(await approve(path, (real) => paths.includes(real)), content, { ...use, exact: true });
    },
    async removeFile(path) {
      await workspace.removeFile(await approve(path, (real) => paths.includes(real)), { exact: true });
    },
    async readDirectory(path) {
      // The folder a file should be in, too: a name that is not there is answered with those that are.
      const isListed = (real: string): boolean => isWithin(real) || paths.some((approved) => parentOf(approved) === real);
      return await workspace.readDirectory(await approve(path, isListed), { exact: true });
    },
    async run(command) {
      await requireUnmoved();
      const result = await workspace.run(command);
      await requireUnmoved();
      return result;
    },
    async start() {
      throw new RuntimeError("usage", "A call with permission for files starts no program that outlives it.");
    },
  };
  return new Proxy(workspace, {
    get(target, name) {
      if (name in bound) return Reflect.get(bound, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** What is ignored in a folder is also written in the folders it lies in; that decides what is found and is never shown. */
function isAbove(path: string, paths: readonly string[], names: RegExp): boolean {
  const folder = path.replace(names, "");
  return folder !== path && paths.some((approved) => isInside(folder === "" ? "/" : folder, approved));
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

function notApproved(path: string, real: string): RuntimeError {
  return new RuntimeError("usage", `${path} leads to ${real}, which is not the file permission was given for.`);
}
