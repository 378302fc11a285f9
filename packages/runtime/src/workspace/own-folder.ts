import { lstatSync, mkdirSync } from "node:fs";
import { removeAtExit } from "../util/temporary-folder.ts";

/** A folder for a session's temporary files: made when something needs it, and removed with the session if it was. */
export class OwnFolder {
  readonly path: string;
  #remove: (() => void) | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** The folder; undefined where somebody else has made one of that name. */
  make(): string | undefined {
    const made = makeOwnFolder(this.path);
    if (made !== undefined) this.#remove ??= removeAtExit(made);
    return made;
  }

  remove(): void {
    this.#remove?.();
    this.#remove = undefined;
  }
}

/** A folder that nobody else can write to, made if need be. Undefined where there is none: others may make folders in the same place. */
export function makeOwnFolder(path: string): string | undefined {
  try {
    mkdirSync(path, { mode: 0o700 });
    return path;
  } catch {
    return isOwn(path) ? path : undefined;
  }
}

function isOwn(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}
