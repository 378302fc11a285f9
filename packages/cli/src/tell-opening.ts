import type { InteractiveSession } from "@outrider/runtime";

/** What a person should know of a session before its first turn, such as what of its journal was lost; for outputs that have no place for it. */
export async function tellOpening(session: InteractiveSession, tell: (line: string) => void): Promise<void> {
  try {
    for await (const event of session.events()) {
      if (event.type === "warning.raised") tell(event.message);
      if (event.type === "turn.started") return;
    }
  } catch {
    return; // a session that cannot be opened says so in its result
  }
}
