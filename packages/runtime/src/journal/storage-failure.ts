import { RuntimeError } from "../protocol/errors.ts";
import { messageOf } from "../util/message-of.ts";

/** What the operating system threw, as `storage-failed`. */
export function toStorageFailure(action: string, path: string, error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const reason = messageOf(error);
  return new RuntimeError("storage-failed", `Cannot ${action} ${path}: ${reason}`, {
    cause: error,
    hint: hintFor(codeOf(error)),
  });
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

function hintFor(code: string | undefined): string {
  if (code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG")
    return "Free some space, or store sessions where there is some (OUTRIDER_HOME for the command), or nowhere (--no-session-persistence)";
  if (code === "EMFILE" || code === "ENFILE") return "Raise the limit of open files (ulimit -n), or run fewer sessions at once";
  if (code === "EIO") return "The disk reports errors: check it, and point OUTRIDER_HOME at another one";
  return "Store sessions in a writable folder with free space (OUTRIDER_HOME for the command), or nowhere (--no-session-persistence)";
}
