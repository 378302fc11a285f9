import type { CommandHostContext, CommandResult } from "../../commands/command.ts";
import { toOutcome, type TurnReport } from "../../engine/turn.ts";
import { addUsage, noUsage } from "../../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { Emit } from "../../protocol/events.ts";
import type { CommandHost } from "../commands/command-host.ts";
import type { CommandQuestions } from "../commands/command-questions.ts";
import { type CommandRun, runCommandToResult } from "../commands/run-command.ts";
import type { CommandCall } from "./session-commands.ts";

/** What commands need of the session, put together when the first of them runs. */
export type CommandGround = {
  readonly host: CommandHost;
  readonly applyEffect: CommandRun["applyEffect"];
  readonly questions: CommandQuestions;
  readonly newId: () => string;
  readonly open: CommandRun["open"];
};

export type CommandPlace = CommandGround & {
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly compact: (emit: Emit, focus?: string) => ReturnType<CommandHostContext["compact"]>;
};

/** A turn that is no part of the conversation: a command runs, and its message is the outcome. Never rejects. */
export async function runCommandTurn(call: CommandCall, place: CommandPlace): Promise<TurnReport> {
  const report = { usage: { ...noUsage }, modelCalls: 0, modelDurationMs: 0 };
  const counted: Emit = (event) => {
    if (event.type === "side-call.ended") {
      report.usage = addUsage(report.usage, event.message.usage);
      report.modelDurationMs += event.durationMs;
    }
    place.emit(event);
  };
  let failure: unknown;
  try {
    // What compaction fails with keeps its code.
    const compact = async (focus?: string): ReturnType<CommandHostContext["compact"]> => {
      try {
        return await place.compact(counted, focus);
      } catch (error) {
        failure = error;
        throw error;
      }
    };
    const { success, message } = await runCommandToResult(toRun(call, { ...place, emit: counted }, compact));
    if (!success) throw failure ?? new RuntimeError("usage", message);
    return { outcome: { type: "completed", text: message }, ...report };
  } catch (error) {
    return { outcome: toOutcome(error, place.signal, ""), ...report };
  }
}

/** A command for a program that wants its result, and no turn. Never rejects. */
export async function runCommand(call: CommandCall, place: CommandPlace): Promise<CommandResult> {
  try {
    return await runCommandToResult(toRun(call, place, (focus) => place.compact(place.emit, focus)));
  } catch (error) {
    return { success: false, message: toRuntimeError(error).message };
  }
}

function toRun(
  { command, args, invokedBy = "user" }: CommandCall,
  { host, applyEffect, questions, newId, open, emit, signal }: CommandPlace,
  compact: CommandHostContext["compact"],
): CommandRun {
  return { command, args, context: { ...host, invokedBy, signal, compact }, emit, newId, questions, open, applyEffect };
}
