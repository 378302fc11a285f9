import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { RuntimeError } from "../../protocol/errors.ts";
import { withFileLock } from "../../util/file-lock.ts";
import { isInside } from "../../util/is-inside.ts";
import { makeFolder } from "../../util/make-folder.ts";
import { replaceFile } from "../../util/replace-file.ts";
import { messageOf } from "../../util/message-of.ts";

/** Where a project keeps what later sessions should know, from its top. */
export const memoryFolder = ".outrider/memory";

/** Files of the project's memory. None of them may be a link: a repository must not make us write elsewhere. */
export class MemoryFiles {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Empty where there is none. */
  read(name: string): string {
    const path = this.#place(name);
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return ""; // fs throws nothing else
      throw unusable(path, error);
    }
  }

  /** The files for topics. */
  topics(): string[] {
    try {
      return readdirSync(dirname(this.#place("topics/any")));
    } catch {
      return []; // nothing was remembered yet, or it leads elsewhere
    }
  }

  /** Changes files with nobody else at it. */
  async change<T>(work: () => Promise<T>): Promise<T> {
    const folder = join(this.root, memoryFolder);
    this.#refuseStrayLinks();
    try {
      makeFolder(join(folder, "topics"));
    } catch (error) {
      throw unusable(folder, error);
    }
    return await withFileLock(this.#place(".lock"), work);
  }

  /** Whole or not at all; only in `change`. */
  async write(name: string, text: string): Promise<void> {
    const path = this.#place(name);
    try {
      await replaceFile(path, text, { mode: 0o644 });
    } catch (error) {
      throw unusable(path, error);
    }
  }

  /** Before anything is made in it: no folder on the way may lead out of the project, or to nowhere. */
  #refuseStrayLinks(): void {
    for (const name of [dirname(memoryFolder), memoryFolder, join(memoryFolder, "topics")]) {
      const path = join(this.root, name);
      if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) continue;
      const isThere = existsSync(path) && isInside(realpathSync(this.root), realpathSync(path));
      if (!isThere) throw unusable(path, "it leads out of the project");
    }
  }

  #place(name: string): string {
    const path = join(this.root, memoryFolder, name);
    const folder = dirname(path);
    try {
      if (!isInside(realpathSync(this.root), realpathSync(folder))) throw unusable(folder, "it leads out of the project");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // then it is made
    }
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw unusable(path, "it is a link");
    return path;
  }
}

function unusable(path: string, why: unknown): RuntimeError {
  return new RuntimeError("storage-failed", `${path} cannot be used: ${messageOf(why)}`);
}
