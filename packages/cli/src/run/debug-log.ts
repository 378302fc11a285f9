import { appendFileSync } from "node:fs";
import { type InteractiveSession, isEphemeral, RuntimeError } from "@outrider/runtime";
import type { FlagValues } from "../flags/flags.ts";

const longestLine = 4_000;

/** `--debug` and `--debug-file`: every stored event as a line, shortened, from the opening of the session on. */
export function watchDebug(session: InteractiveSession, flags: FlagValues): void {
  const file = flags["debug-file"];
  if (!flags.debug && file === undefined) return;
  const write =
    file === undefined ? (line: string) => void process.stderr.write(line) : (line: string) => appendFileSync(file, line);
  try {
    write(`debug: session ${session.id}\n`);
  } catch (error) {
    throw new RuntimeError("usage", `--debug-file: ${error instanceof Error ? error.message : String(error)}`);
  }
  void follow(session, write);
}

async function follow(session: InteractiveSession, write: (line: string) => void): Promise<void> {
  try {
    for await (const event of session.events({ capacity: 10_000 })) {
      if (isEphemeral(event.type)) continue;
      const { at, seq, type, sessionId: _, ...fields } = event;
      write(`debug: ${at} ${seq} ${type} ${JSON.stringify(fields).slice(0, longestLine)}\n`);
    }
  } catch {
    // The session tells its own trouble; a log that cannot be written must not add to it.
  }
}
