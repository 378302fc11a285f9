import type { CommandHostContext, CommandResult } from "../../commands/command.ts";
import { toOutcome, type TurnReport } from "../../engine/turn.ts";
import { addUsage, noUsage } from "../../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { Emit } from "../../protocol/events.ts";
import type { CommandCall } from "./session-commands.ts";

export type CommandTurn = CommandCall & {
  readonly emit: Emit;
  readonly signal: AbortSignal;
  /** What the command is given, whose events go through `emit`. */
  readonly contextOf: (emit: Emit) => CommandHostContext;
};

/** A turn that is no part of the conversation: a command runs, and its message is the outcome. Never rejects. */
export async function runCommandTurn({ command, args, emit, signal, contextOf }: CommandTurn): Promise<TurnReport> {
  const report = { usage: { ...noUsage }, modelCalls: 0, modelDurationMs: 0 };
  const counted: Emit = (event) => {
    if (event.type === "side-call.ended") {
      report.usage = addUsage(report.usage, event.message.usage);
      report.modelDurationMs += event.durationMs;
    }
    emit(event);
  };
  try {
    const { success, message } = await command.execute(contextOf(counted), args);
    if (!success) throw new RuntimeError("usage", message);
    return { outcome: { type: "completed", text: message }, ...report };
  } catch (error) {
    return { outcome: toOutcome(error, signal, ""), ...report };
  }
}

/** A command for a program that wants its result, and no turn. Never rejects. */
export async function runCommand({ command, args }: CommandCall, context: CommandHostContext): Promise<CommandResult> {
  try {
    return await command.execute(context, args);
  } catch (error) {
    return { success: false, message: toRuntimeError(error).message };
  }
}
