import type { AgentEvent } from "../../protocol/events.ts";
import type { UserMessage } from "../../protocol/content.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import { SessionWriter } from "../session-writer.ts";
import type { WorkCeilings } from "../../session/tasks/finish-work.ts";
import type { TaskTurns } from "./task-turns.ts";
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
    /** Turns that tasks begin have ends of their own; only the last one is written when absent. */
    eachTurn?: boolean | undefined;
    /** Hooks of the session's end run before the end is written, and those in the background end: the reader is told of them. */
    finishesHooks?: boolean | undefined;
    /** How long tasks are waited for. */
    ceilings?: WorkCeilings | undefined;
  },
): Promise<ShownOutcome> {
  const { format, output } = target;
  let isOver = false;
  let turns: TaskTurns | undefined;
  let goOn = (): void => {};
  /** What happens after the prompt's own turn is told after its result. */
  let gate: Promise<void> | undefined;
  const write = (event: AgentEvent): void | Promise<void> => {
    if (!turns || event.type !== "turn.started" || event.taskId !== undefined) return tell(event);
    return turns.begins().then(() => tell(event));
  };
  const tell = (event: AgentEvent): void | Promise<void> => {
    if (isOver) return;
    const text = format.event(event);
    if (text) output.write(text);
    if (event.type === "turn.ended" && event.taskId === undefined) {
      if (turns) return turns.ended(event.outcome);
      gate = new Promise((resolve) => {
        goOn = resolve;
      });
    }
    return output.full ? output.drain() : undefined;
  };
  const writer = new SessionWriter(session, (event) => (gate ? gate.then(() => write(event)) : write(event)));
  output.onClosed(() => session.abort("output-closed"));
  const first = await writer.run(prompt);
  if (first.type === "completed" && session.listBackgroundTasks().length > 0) {
    turns = new (await import("./task-turns.ts")).TaskTurns(session, target);
    await turns.ended(first);
    goOn();
  }
  const outcome = (await turns?.finish(() => writer.caughtUp())) ?? first;
  if (target.finishesHooks) {
    goOn();
    await session.finishHooks();
    await writer.caughtUp();
  }
  isOver = true;
  goOn();
  writer.close();
  const honest = session.shown(target.judge?.(outcome) ?? outcome);
  if (!turns?.isWritten) output.write(await format.end(honest));
  await output.drain();
  return output.closed ? session.shown(unread(honest)) : honest;
}

/** What nobody was there to read has not completed. */
export function unread(outcome: ShownOutcome): Outcome {
  return outcome.type === "completed" ? { type: "cancelled", cause: "output-closed", text: outcome.text } : outcome;
}
