import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type FileState, readState, sameContent } from "./file-state.ts";
import { showPath } from "./plan.ts";
import type { LoadedHistory } from "./restore.ts";
import type { SessionFolder } from "./session-folder.ts";

/** A file that is not as it was when the session first changed it. */
export type ChangedSince = {
  readonly path: string;
  readonly shown: string;
  /** The checkpoints that changed it, oldest first. */
  readonly checkpoints: readonly string[];
  readonly before: FileState["kind"];
  readonly after: FileState["kind"];
  /** Absent for what has no lines: binary or very large files, links, and files of which no copy was kept. */
  readonly texts?: { readonly before: string; readonly after: string };
};

const maxBytes = 1024 * 1024;

/** Every file that the session changed, as it was before that and as it is now. */
export async function changesSince(folder: SessionFolder, { checkpoints }: LoadedHistory): Promise<ChangedSince[]> {
  const root = checkpoints.findLast((checkpoint) => checkpoint.root !== undefined)?.root;
  const first = new Map<string, { before: FileState; checkpoints: string[] }>();
  for (const { links } of checkpoints)
    for (const { path, before, checkpointId } of links) {
      const known = first.get(path) ?? { before, checkpoints: [] };
      if (!known.checkpoints.includes(checkpointId)) known.checkpoints.push(checkpointId);
      first.set(path, known);
    }
  const changed: ChangedSince[] = [];
  for (const [path, { before, checkpoints: by }] of first) {
    const after = await readState(path, folder.maxFileBytes);
    if (sameContent(before, after)) continue;
    const old = await textOf(before, join(folder.path, "blobs", before.kind === "file" ? before.hash : ""));
    const now = await textOf(after, path);
    changed.push({
      ...{ path, shown: showPath(path, root), checkpoints: by, before: before.kind, after: after.kind },
      ...(old !== undefined && now !== undefined && { texts: { before: old, after: now } }),
    });
  }
  return changed;
}

async function textOf(state: FileState, path: string): Promise<string | undefined> {
  if (state.kind === "absent") return "";
  if (state.kind !== "file" || state.size > maxBytes) return undefined;
  const text = await readFile(path, "utf8").catch(() => undefined); // it is gone in between
  return text?.includes("\0") ? undefined : text;
}
