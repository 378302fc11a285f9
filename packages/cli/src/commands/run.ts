import { InteractiveSession, type Outcome, RuntimeError, toRuntimeError } from "@outrider/runtime";
import {
  createClaudeFormat,
  createIdSeries,
  LineOutput,
  type OutputFormatName,
  outputFormatNames,
  randomUuid,
  runPrompt,
  secretsIn,
} from "@outrider/runtime/host";
import type { Arguments } from "../args.ts";
import { detectCi } from "../ci/platform.ts";
import type { CiRun } from "../ci/start-ci.ts";
import { type Deadline, startDeadline } from "../deadline.ts";
import { exitCodeOf, exitCodes } from "../exit-codes.ts";
import type { FlagValues } from "../flags.ts";
import { type Planned, planSession } from "../plan-session.ts";
import { readPrompt } from "../prompt.ts";
import { StoppedEarly, watchSignals } from "../signals.ts";

/** The one-shot command: one prompt in, one result out, one exit code that agrees with it. */
export async function runOnce(args: Arguments): Promise<number> {
  const signals = watchSignals(exitCodes.cancelled);
  let deadline: Deadline | undefined;
  try {
    deadline = startDeadline(args.flags.deadline);
    const { options, replay, prompt } = await Promise.race([prepare(args), signals.early, deadline.early]);
    const session = new InteractiveSession(options);
    signals.stop = () => session.abort("signal");
    deadline.stop = () => session.abort("deadline");
    try {
      const outcome = await runSession(session, prompt, { flags: args.flags, options, replay });
      await session.shutdown();
      return signals.insisted ? exitCodes.killed : exitCodeOf(outcome);
    } finally {
      await session.shutdown();
    }
  } finally {
    deadline?.close();
    signals.close();
    // Whatever a tool or a library left open must not keep a finished run alive.
    setImmediate(() => process.exit());
  }
}

/** Everything that is needed before there is a session; what is wrong is found here. */
async function prepare(args: Arguments): Promise<Planned & { prompt: string }> {
  const planned = await planSession(args.flags, complain);
  return { ...planned, prompt: await readPrompt({ positionals: args.positionals, warn: complain }) };
}

async function runSession(
  session: InteractiveSession,
  prompt: string,
  { flags, options, replay }: Planned & { flags: FlagValues },
): Promise<Outcome> {
  const output = new LineOutput(process.stdout);
  const { catalogOverride } = options;
  const format = createClaudeFormat(formatOf(flags["output-format"]), {
    sessionId: session.id,
    newId: createIdSeries(),
    ...(catalogOverride && { catalogOverride }),
    ...(flags["include-hook-events"] && { includeHookEvents: true }),
  });
  const progress = await showProgress(session, flags);
  const ci = await reportToCi(session.id, prompt, { flags, options });
  try {
    const judge = (ended: Outcome): Outcome => judgeReplay(ended, replay, flags);
    const outcome = await runPrompt(session, prompt, { format: ci?.watch(format) ?? format, output, judge });
    progress?.stop();
    if (!output.closed) await explain(outcome, session, flags);
    await ci?.end(outcome, exitCodeOf(outcome));
    return outcome;
  } finally {
    progress?.stop();
  }
}

/** A run that ends before its recording took another course. */
function judgeReplay(outcome: Outcome, replay: Planned["replay"], flags: FlagValues): Outcome {
  if (outcome.type !== "completed" || !replay || replay.remaining === 0) return outcome;
  const message = `The run ended, and the recording holds ${replay.remaining} more ${replay.remaining === 1 ? "answer" : "answers"}`;
  if (!flags["replay-lenient"])
    return { type: "failed", error: new RuntimeError("replay-mismatch", message).toJSON(), text: outcome.text };
  complain(message);
  return outcome;
}

/** A failure before there was a session: told on stderr, and in the machine formats as the one result they promise. */
export async function failEarly(thrown: unknown, formatName: string | undefined): Promise<number> {
  const error = toRuntimeError(thrown);
  const stopped = thrown instanceof StoppedEarly;
  const outcome: Outcome = stopped
    ? { type: "cancelled", cause: thrown.by, text: "" }
    : { type: "failed", error: error.toJSON(), text: "" };
  complain(error.message + (error.hint ? `\n${error.hint}` : ""));
  if (error.code === "usage") process.stderr.write("See outrider --help\n");
  if (!stopped && error.code === "internal" && error.cause instanceof Error) process.stderr.write(`${error.cause.stack}\n`);
  if (formatName === "json" || formatName === "stream-json") {
    const output = new LineOutput(process.stdout);
    output.write(await createClaudeFormat(formatName, { sessionId: "", newId: createIdSeries() }).end(outcome));
    await output.drain();
  }
  return exitCodeOf(outcome);
}

/** In CI the run leaves a summary, outputs and annotations where the platform looks for them. */
async function reportToCi(
  sessionId: string,
  task: string,
  { flags, options: { catalogOverride } }: Pick<Planned, "options"> & { flags: FlagValues },
): Promise<CiRun | undefined> {
  const platform = flags["no-ci-report"] ? undefined : detectCi(process.env);
  if (!platform) return undefined;
  const { startCi } = await import("../ci/start-ci.ts");
  return startCi(sessionId, {
    platform,
    task,
    secrets: secretsIn(process.env),
    token: randomUuid(),
    write: (text) => process.stderr.write(text),
    warn: complain,
    ...(catalogOverride && { catalogOverride }),
  });
}

function formatOf(text: string | undefined): OutputFormatName {
  return outputFormatNames.find((name) => name === text) ?? "text";
}

/** Progress is for a person: on a terminal, outside CI, and not when asked to be quiet. `--verbose` says it in plain lines anywhere. */
async function showProgress(session: InteractiveSession, flags: FlagValues): Promise<{ stop(): void } | undefined> {
  if (flags.quiet) return undefined;
  // Frames on the same terminal and a moving line would write into each other.
  const framesOnTerminal = process.stdout.isTTY && formatOf(flags["output-format"]) === "stream-json";
  const animated = process.stderr.isTTY && !process.env["CI"] && !framesOnTerminal;
  if (!animated && !flags.verbose) return undefined;
  const { startProgress } = await import("../progress.ts");
  return startProgress(session, {
    stream: process.stderr,
    animated: animated && process.env["TERM"] !== "dumb",
    verbose: flags.verbose ?? false,
  });
}

async function explain(outcome: Outcome, session: InteractiveSession, flags: FlagValues): Promise<void> {
  if (outcome.type === "completed") return;
  const location = flags["no-session-persistence"] ? undefined : await session.journalLocation().catch(() => undefined);
  const record = location ? `\nThe whole run is recorded in ${location}` : "";
  if (outcome.type === "failed")
    complain(`${outcome.error.message}${outcome.error.hint ? `\n${outcome.error.hint}` : ""}${record}`);
  else complain(`${stopWords(outcome, flags)}${record}`);
}

function stopWords(outcome: Outcome & { type: "stopped" | "cancelled" }, flags: FlagValues): string {
  if (outcome.type === "cancelled")
    return outcome.cause === "deadline" ? `stopped: ${flags.deadline} have passed (--deadline)` : "stopped before the end";
  if (outcome.limit === "hook") return `stopped by a hook: ${outcome.reason ?? "it gave no reason"}`;
  if (outcome.limit === "max-turns") return `stopped: the model was asked ${flags["max-turns"]} times (--max-turns)`;
  return `stopped: more than ${flags["max-budget-usd"]} dollars are spent (--max-budget-usd)`;
}

function complain(message: string): void {
  process.stderr.write(`outrider: ${message}\n`);
}
