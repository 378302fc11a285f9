import { realpathSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createFileStore } from "../../journal/file-store.ts";
import type { ForkOrigin, SessionStore } from "../../journal/store.ts";
import type { FileStoreOptions } from "../../journal/store-place.ts";
import { checkValue, text } from "../../protocol/kinds.ts";
import { defined } from "../../util/defined.ts";
import { makeFolder } from "../../util/make-folder.ts";

/**
 * Sessions that live with a project, in `.outrider/sessions` of `cwd`, instead of in the user's home where the command keeps them. What is
 * said in them is nobody else's business: the folder tells git to leave it out, and only its owner may read it.
 */
export function createProjectSessionStore(cwd: string, options: FileStoreOptions = {}): SessionStore {
  checkValue("cwd", cwd, text);
  const directory = resolve(cwd, ".outrider", "sessions");
  const store = createFileStore(directory, options);
  return {
    ...store,
    async open(sessionId) {
      keepOutOfGit(directory);
      return await store.open(sessionId);
    },
  };
}

/** Beside the sessions and not in the project's own list, which is not ours to change. A folder that cannot be written to fails later, with a reason. */
function keepOutOfGit(directory: string): void {
  try {
    makeFolder(directory);
    writeFileSync(join(directory, ".gitignore"), "*\n", { flag: "wx" });
  } catch {
    // It is there already, or `open` says what is wrong.
  }
}

/** A session as a list to choose from shows it. */
export type ResumableSessionSummary = {
  id: string;
  name?: string;
  cwd: string;
  createdAt: string;
  updatedAt: string;
  turns: number;
  /** The first prompt on one line, shortened. */
  preview: string;
  forkedFrom?: ForkOrigin;
};

/** The sessions that worked in `cwd` and were asked something, the latest first; none without a store. */
export async function listResumableSessionSummaries(
  store: Pick<SessionStore, "summaries"> | undefined,
  cwd: string,
): Promise<ResumableSessionSummary[]> {
  checkValue("cwd", cwd, text);
  const summaries = (await store?.summaries()) ?? [];
  const folder = realPath(cwd);
  return summaries
    .filter((summary) => summary.cwd === folder && summary.turns > 0)
    .map(({ id, name, cwd, createdAt, updatedAt, turns, prompt, forkedFrom }) => ({
      id,
      ...defined({ name }),
      cwd,
      createdAt,
      updatedAt,
      turns,
      preview: prompt,
      ...(forkedFrom && { forkedFrom }),
    }));
}

/** As sessions note it, whichever way somebody came there. A folder that is gone by now can still have sessions. */
function realPath(cwd: string): string {
  try {
    return realpathSync(cwd);
  } catch {
    return resolve(cwd);
  }
}
