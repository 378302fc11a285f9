import type { CommandEffect, CommandHostContext, CommandResult, SystemCommand } from "../../commands/command.ts";
import { toRuntimeError } from "../../protocol/errors.ts";
import { anyText, checkValue, type Kind, listOf, needed, oneOf, shape } from "../../protocol/kinds.ts";
import type { Emit } from "../../protocol/events.ts";
import { untilAborted } from "../../util/until-aborted.ts";
import { type CommandQuestions, isFitting } from "./command-questions.ts";

export type CommandRun = {
  readonly command: SystemCommand;
  readonly args: string;
  readonly context: CommandHostContext;
  readonly emit: Emit;
  readonly newId: () => string;
  readonly questions: CommandQuestions;
  /** Opens the session where nothing has done so yet: what is asked before that nobody hears. */
  readonly open: () => Promise<void>;
  /** Does what the session itself can do; undefined when it is not for the session. */
  readonly applyEffect: (effect: CommandEffect) => Promise<string | undefined>;
};

/** How often a wrong answer is asked for again, and how many questions one command may ask. */
const maxTries = 3;
const maxQuestions = 50;
/** A command that is not done by then never is. */
const maxMs = 10 * 60_000;

/**
 * A command to its result, with its questions and what it wants the host to do. What nobody here can do makes it a failure. Rejects only
 * when it is aborted; a command that throws, says nothing or never ends has failed.
 */
export async function runCommandToResult(run: CommandRun): Promise<CommandResult> {
  const { command, args, context } = run;
  const started = await guarded(run, () => command.execute(context, args));
  const result = started.interaction ? await converse(run, started) : started;
  return result.success ? await applyEffects(run, result) : result;
}

async function guarded(
  { command, context }: CommandRun,
  work: () => Promise<CommandResult> | CommandResult,
): Promise<CommandResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<CommandResult>((resolve) => {
    const message = `/${command.name} did not end within ${maxMs / 60_000} minutes`;
    timer = setTimeout(() => resolve({ success: false, message }), maxMs);
    timer.unref();
  });
  try {
    const result = await untilAborted(Promise.race([(async () => await work())(), late]), context.signal);
    if (typeof result?.message === "string" && typeof result.success === "boolean") return result;
    return { success: false, message: `/${command.name} ended without a result` };
  } catch (error) {
    context.signal.throwIfAborted();
    const { message, code } = toRuntimeError(error);
    return { success: false, message: message || `/${command.name} failed (${code})` };
  } finally {
    clearTimeout(timer);
  }
}

/** Question by question. With nobody to answer, it is cancelled at once. */
async function converse(run: CommandRun, first: CommandResult): Promise<CommandResult> {
  let result = first;
  for (let asked = 0; result.interaction; asked++) {
    const { interaction } = result;
    const answer = asked < maxQuestions ? await askFor(run, result) : undefined;
    if (answer === undefined) {
      const cancelled = interaction.cancel && (await guarded(run, () => interaction.cancel?.() ?? notAnswered(run)));
      return { ...(cancelled ?? notAnswered(run)), success: false };
    }
    result = await guarded(run, () => interaction.submit(answer));
  }
  return result;
}

function notAnswered({ command, questions }: CommandRun): CommandResult {
  const why = questions.answerable ? "its question was not answered" : "nobody is here to answer its question";
  return { success: false, message: `/${command.name} was cancelled: ${why}` };
}

const choices = listOf(shape({ value: needed(anyText) }, "a choice with a value"), "a list of choices");
const promptKind: Kind = (prompt) =>
  shape(
    {
      type: needed(oneOf(["choice", "text"])),
      message: needed(anyText),
      choices: Object(prompt).type === "choice" ? needed(choices) : choices,
    },
    "a prompt with type and message",
  )(prompt);

async function askFor(
  { command, emit, newId, questions, context, open }: CommandRun,
  { interaction }: CommandResult,
): Promise<string | undefined> {
  if (!interaction) return undefined;
  checkValue(`The question of /${command.name}`, interaction.prompt, promptKind);
  if (questions.answerable) await open();
  for (let tries = 0; tries < maxTries; tries++) {
    const interactionId = newId();
    const waiting = questions.ask(interactionId, context.signal);
    emit({ type: "interaction.requested", interactionId, command: command.name, prompt: interaction.prompt });
    const answer = await waiting;
    const status = answer === undefined ? "cancelled" : isFitting(interaction.prompt, answer) ? "answered" : "unfit";
    emit({ type: "interaction.resolved", interactionId, status });
    if (status !== "unfit") return answer;
  }
  return undefined;
}

async function applyEffects({ applyEffect, context, command }: CommandRun, result: CommandResult): Promise<CommandResult> {
  const adapters = context.getCommandHostAdapters();
  for (const effect of result.effects ?? []) {
    try {
      const done = (await applyEffect(effect)) ?? (await adapters.applyEffect?.(effect));
      if (done === undefined)
        return { success: false, message: `/${command.name}: ${noSurface[effect.type] ?? "the program cannot do that here"}` };
    } catch (error) {
      return { success: false, message: `/${command.name} failed: ${toRuntimeError(error).message}` };
    }
  }
  return result;
}

/** What to do instead, where the program around the session has no such thing. */
const noSurface: Partial<Record<CommandEffect["type"], string>> = {
  "session-exit-requested": "a run ends with its last prompt; close its input",
  "session-picker-requested": "there is nothing to choose with here; outrider -p --resume SESSION goes on with another session",
  "settings-reset-requested": "settings are files of the user, and are deleted by hand; outrider config --explain names them",
  "language-change-requested": "the setting language says it for sessions that begin",
  "statusline-settings-patch": "there is no status line here",
  "plugin-tui-requested": "there is no screen for plugins here",
  "session-restart-requested": "a session is not started again from inside",
};
