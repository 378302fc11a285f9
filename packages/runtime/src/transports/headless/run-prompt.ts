import type { UserMessage } from "../../protocol/content.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import { SessionWriter } from "../session-writer.ts";
import type { LineOutput } from "./line-output.ts";
import type { OutputFormat, ShownOutcome } from "./output-format.ts";

/**
 * One prompt through a session to an output, to its end. Never rejects; the end is written exactly once.
 * The session waits for a slow output; an output that is closed stops the turn.
 */
export async function runPrompt(
  session: InteractiveSession<unknown>,
  prompt: string | UserMessage,
  target: {
    format: OutputFormat;
    output: LineOutput;
    /** The last word on how it went, before the end is written. */
    judge?(outcome: Outcome<unknown>): Outcome<unknown>;
  },
): Promise<ShownOutcome> {
  const { format, output } = target;
  const writer = new SessionWriter(session, (event) => {
    const text = format.event(event);
    if (text) output.write(text);
    return output.full ? output.drain() : undefined;
  });
  output.onClosed(() => session.abort("output-closed"));
  const outcome = await writer.run(prompt);
  writer.close();
  const honest = session.shown(target.judge?.(outcome) ?? outcome);
  output.write(await format.end(honest));
  await output.drain();
  return output.closed ? session.shown(unread(honest)) : honest;
}

/** What nobody was there to read has not completed. */
export function unread(outcome: ShownOutcome): Outcome {
  return outcome.type === "completed" ? { type: "cancelled", cause: "output-closed", text: outcome.text } : outcome;
}
