import { join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { type FileOperations, type SyncPolicy, systemFiles } from "./journal-file.ts";
import type { RecentLog } from "./recent-log.ts";
import type { SideFiles } from "./side-files.ts";

export type FileStoreOptions = {
  /** What an acknowledged event survives; `batch` when absent. */
  readonly sync?: SyncPolicy;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly operations?: FileOperations;
};

/** The folder of a store and how it is written. */
export type StorePlace = Required<FileStoreOptions> & {
  readonly directory: string;
  /** Logs that were copied and not synced: their writer does that with what it writes itself. */
  readonly unsyncedCopies: Set<string>;
  /** Throws `usage` for an id that is no name of a file in this folder. */
  logPath(sessionId: string): string;
  sideFiles(): Promise<SideFiles>;
  recentLog(): Promise<RecentLog>;
};

export const logSuffix = ".jsonl";

export function toPlace(directory: string, options: FileStoreOptions): StorePlace {
  const sync = options.sync ?? "batch";
  let sideFiles: Promise<SideFiles> | undefined;
  let recentLog: Promise<RecentLog> | undefined;
  return {
    directory,
    unsyncedCopies: new Set(),
    sync,
    now: options.now ?? Date.now,
    operations: options.operations ?? systemFiles,
    logPath: (sessionId) => join(directory, `${checkSessionId(sessionId)}${logSuffix}`),
    sideFiles() {
      sideFiles ??= import("./side-files.ts").then((module) => new module.SideFiles(directory, { sync: sync !== "never" }));
      return sideFiles;
    },
    recentLog() {
      recentLog ??= import("./mend.ts").then((module) => new module.RecentLog());
      return recentLog;
    },
  };
}

/** It becomes the name of a file. */
export function isSessionId(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(text);
}

/** Answers it, or throws `usage`. Files and folders are named after it, also where the journal is in memory. */
export function checkSessionId(sessionId: string): string {
  if (isSessionId(sessionId)) return sessionId;
  const shown = sessionId.length > 200 ? `${sessionId.slice(0, 200)}…` : sessionId;
  throw new RuntimeError(
    "usage",
    `A session id is letters, digits, "-" and "_", at most 128 of them, not ${JSON.stringify(shown)}`,
  );
}
