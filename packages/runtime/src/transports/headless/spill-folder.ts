import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../util/make-folder.ts";
import type { Spill } from "./wire-line.ts";

/** Keeps what is too long for a line as files of this folder, which is made when the first one comes. */
export function createSpill(folder: string): Spill {
  return (name, content) => {
    const path = join(folder, name.slice(-180));
    try {
      makeFolder(folder);
      writeFileSync(path, content, { mode: 0o600 });
      return path;
    } catch {
      return undefined; // a full disk must not cost the line: it says that nothing was kept
    }
  };
}
