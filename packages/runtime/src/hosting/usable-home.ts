import { accessSync, constants } from "node:fs";
import { makeFolder } from "../util/make-folder.ts";
import type { Surroundings } from "./surroundings.ts";

/**
 * Why nothing can be kept in the user's folder, if that is so: the session then runs without a journal. A folder that somebody chose is
 * another matter, and an error where it is used.
 */
export function homeTrouble({ env, outriderHome }: Surroundings): string | undefined {
  if (env["OUTRIDER_HOME"]) return undefined;
  try {
    makeFolder(outriderHome);
    accessSync(outriderHome, constants.W_OK);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `Nothing of this session is kept, because ${outriderHome} cannot be used: ${reason}`;
  }
}
