import { join } from "node:path";
import { type Lock, takeLock } from "../journal/lock.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { Blobs } from "./blobs.ts";
import { storageFailure } from "./storage-failure.ts";
import { makeFolder } from "../util/make-folder.ts";

export type FolderOptions = {
  /** Where the checkpoints of all sessions are kept; never in a project. */
  readonly directory: string;
  readonly sessionId: string;
  /** A larger file is changed without a copy, and reported as not covered. */
  readonly maxFileBytes?: number;
  /** Copies and records are on the disk, not only with the kernel, before a file changes. */
  readonly sync?: boolean;
};

/** What the checkpoints of one session are kept in. */
export type SessionFolder = {
  readonly sessionId: string;
  readonly path: string;
  readonly log: string;
  readonly blobs: Blobs;
  readonly maxFileBytes: number;
  readonly sync: boolean;
  /** Rejects with `session-locked` while another process changes the same session's files. */
  lock(): Promise<Lock>;
};

/** More than Write and Edit will open. */
const defaultMaxFileBytes = 64 * 1024 * 1024;

/** Touches nothing. */
export function sessionFolder(options: FolderOptions): SessionFolder {
  const { directory, sessionId, maxFileBytes = defaultMaxFileBytes, sync = true } = options;
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(sessionId))
    throw new RuntimeError("usage", `A session id is letters, digits, "-" and "_", not ${JSON.stringify(sessionId)}`);
  const path = join(directory, sessionId);
  return {
    sessionId,
    path,
    log: join(path, "log.jsonl"),
    blobs: new Blobs({ folder: join(path, "blobs"), maxFileBytes, sync }),
    maxFileBytes,
    sync,
    async lock() {
      try {
        makeFolder(directory);
      } catch (error) {
        throw storageFailure(`Checkpoints cannot be kept in ${directory}`, error);
      }
      return await takeLock(join(directory, `${sessionId}.lock`), sessionId);
    },
  };
}
