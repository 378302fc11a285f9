import type { Stats } from "node:fs";
import { RuntimeError } from "../protocol/errors.ts";
import { messageOf } from "../util/message-of.ts";

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EBUSY: "it is in use",
  EDQUOT: "the disk quota is used up",
  EEXIST: "a part of the path is a file, not a directory",
  EISDIR: "it is a directory",
  ELOOP: "its symbolic links lead in a circle",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "the name is too long",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is a file, not a directory",
  EPERM: "the operation is not permitted",
  EROFS: "the file system is read-only",
};

/** What the system said, in words about the file that was asked for. */
export function fileFailure(path: string, { verb, error }: { verb: string; error: unknown }): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const code = codeOf(error);
  if (code === "ENOENT") return new RuntimeError("not-found", `${path} does not exist.`, { cause: error });
  const reason = reasons[code] ?? messageOf(error);
  return new RuntimeError("usage", `${path} could not be ${verb}: ${reason}.`, { cause: error });
}

export function refuseOtherThanFile(path: string, stats: Stats): void {
  const kind = kindOf(stats);
  if (kind === "directory") throw new RuntimeError("usage", `${path} is a directory, not a file.`);
  if (kind === "other") throw new RuntimeError("usage", `${path} is a device, pipe or socket, not a regular file.`);
}

export function kindOf(entry: { isFile(): boolean; isDirectory(): boolean }): "file" | "directory" | "other" {
  if (entry.isFile()) return "file";
  return entry.isDirectory() ? "directory" : "other";
}

/** Empty for what is no failure of the system. */
export function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}
