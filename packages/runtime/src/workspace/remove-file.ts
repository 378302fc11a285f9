import { lstatSync, unlinkSync } from "node:fs";
import { basename, dirname } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { holdDirectory, leadsElsewhere } from "./exact-path.ts";
import { fileFailure, refuseOtherThanFile } from "./file-failure.ts";

/** Removes the file at a real path. A link that took a place in the path since is refused, never followed. */
export async function removeFile(path: string): Promise<void> {
  try {
    const directory = holdDirectory(dirname(path));
    try {
      const target = `${directory.place}/${basename(path)}`;
      const found = lstatSync(target, { throwIfNoEntry: false });
      if (!found) throw new RuntimeError("not-found", `${path} does not exist.`);
      if (found.isSymbolicLink()) throw leadsElsewhere(path);
      refuseOtherThanFile(path, found);
      directory.check();
      unlinkSync(target);
    } finally {
      directory.close();
    }
  } catch (error) {
    throw fileFailure(path, { verb: "removed", error });
  }
}
