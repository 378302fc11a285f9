import type { ResolvedSettings } from "@outrider/runtime/host";
import { RuntimeError, type SessionOptions } from "@outrider/runtime";
import type { FlagValues } from "./flags.ts";
import { positiveInteger } from "./numbers.ts";

/** What bounds a prompt that nobody watches, whatever the model answers: a flag, else a setting, else the session's own default. */
export function requestLimits(
  flags: FlagValues,
  { settings: { limits, loops } }: ResolvedSettings,
): Pick<SessionOptions, "maxRequests" | "loops"> {
  const asked = flags["max-requests"];
  const maxRequests = asked === undefined ? limits.maxRequests : positiveInteger("--max-requests", asked);
  const noteAt = repeats("--loop-note", flags["loop-note"]) ?? loops.noteAt;
  const stopAt = repeats("--loop-stop", flags["loop-stop"]) ?? loops.stopAt;
  return {
    ...(maxRequests !== undefined && { maxRequests }),
    loops: { ...(noteAt !== undefined && { noteAt }), ...(stopAt !== undefined && { stopAt }) },
  };
}

function repeats(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (text === "0") return 0;
  const value = positiveInteger(flag, text);
  if (value === 1) throw new RuntimeError("usage", `${flag} needs 0 or a number of at least 2: every call is made once`);
  return value;
}
