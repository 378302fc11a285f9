import { RuntimeError } from "../protocol/errors.ts";
import { messageOf } from "../util/message-of.ts";

/** What could not be kept, as a failure that stops the change it was kept for. */
export function storageFailure(what: string, error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const reason = messageOf(error);
  return new RuntimeError("storage-failed", `${what}: ${reason}`, {
    cause: error,
    hint: "Point OUTRIDER_HOME at a writable folder with free space, or keep nothing (--no-session-persistence; `bare` in a program)",
  });
}
