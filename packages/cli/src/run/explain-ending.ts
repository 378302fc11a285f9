import type { AgentEvent, InteractiveSession, Outcome } from "@outrider/runtime";
import type { FlagValues } from "../flags/flags.ts";
import { toDenials } from "../terminal/ending.ts";
import { complain, say } from "./say.ts";

type Explained = {
  readonly session: InteractiveSession;
  readonly flags: FlagValues;
  readonly denied: readonly AgentEvent<"tool.ended">[];
  /** The first signal that came. */
  readonly stoppedBy: () => NodeJS.Signals | undefined;
};

/** Why it did not come to its end, or what it was not allowed on the way, which an answer may well not tell; and where all of it is. */
export async function explainEnding(outcome: Outcome, { session, flags, denied, stoppedBy }: Explained): Promise<void> {
  const isWaiting = outcome.type === "stopped" && outcome.deferred !== undefined;
  if (isWaiting && (flags["output-format"] ?? "text") !== "text") return; // its result says so
  if (denied.length > 0) complain(toDenials(denied));
  if (outcome.type === "failed") complain(`${outcome.error.message}${outcome.error.hint ? `\n${outcome.error.hint}` : ""}`);
  else if (outcome.type !== "completed")
    complain((await import("../terminal/stop-words.ts")).stopWords(outcome, { flags, signal: stoppedBy() }));
  if (outcome.type === "failed" && outcome.error.code === "storage-failed") return; // it is not
  const location = flags["no-session-persistence"] ? undefined : await session.journalLocation().catch(() => undefined);
  if (location) say(`The whole run is recorded in ${location}\n`);
}
