import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { UserMessage } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { OutputFormat, ShownOutcome } from "./output-format.ts";
import type { LineOutput } from "./line-output.ts";

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
  const events = session.events({ whenFull: "wait", capacity: 256 });
  const turn = session
    .submit(prompt)
    .catch((error: unknown): Outcome<unknown> => ({ type: "failed", error: toRuntimeError(error).toJSON(), text: "" }));
  output.onClosed(() => session.abort("output-closed"));
  const writing = writeEvents(events, format, output);
  const outcome = await turn;
  const problem = await writing;
  const written: Outcome<unknown> =
    problem && outcome.type === "completed" ? { type: "failed", error: problem.toJSON(), text: outcome.text } : outcome;
  const honest = session.shown(target.judge?.(written) ?? written);
  output.write(await format.end(honest));
  await output.drain();
  return output.closed && honest.type === "completed"
    ? session.shown({ type: "cancelled", cause: "output-closed", text: honest.text })
    : honest;
}

/** Writes until the turn's last event; answers what kept it from reading on, if anything did. */
async function writeEvents(
  events: AsyncIterable<AgentEvent>,
  format: OutputFormat,
  output: LineOutput,
): Promise<RuntimeError | undefined> {
  try {
    for await (const event of events) {
      const text = format.event(event);
      if (text) output.write(text);
      if (output.full) await output.drain();
      if (event.type === "turn.ended") return undefined;
    }
    return new RuntimeError("internal", "The event stream ended before the turn did");
  } catch (error) {
    return toRuntimeError(error);
  }
}
