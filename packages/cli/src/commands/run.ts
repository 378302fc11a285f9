import { InteractiveSession, type Outcome, RuntimeError, type SessionOptions, toRuntimeError } from "@outrider/runtime";
import { createRedactor, LineOutput, type OutputFormat, runPrompt, type ShownOutcome } from "@outrider/runtime/host";
import type { McpServerConfigs, McpServers } from "@outrider/runtime/mcp";
import type { Arguments } from "../args.ts";
import { openCi, wantsReport } from "../ci/open-ci.ts";
import type { CiRun } from "../ci/start-ci.ts";
import { type Deadline, startDeadline } from "../deadline.ts";
import { endSession } from "../end-session.ts";
import { exitCodeOf, exitCodes } from "../exit-codes.ts";
import type { FlagValues } from "../flags.ts";
import { checkOutputFlags, createEarlyFormat, createOutputFormat, formatName } from "../output-format.ts";
import { type Planned, planSession } from "../plan-session.ts";
import { readPrompt } from "../prompt.ts";
import { StoppedEarly, watchSignals } from "../signals.ts";

/** The one-shot command: one prompt in, one result out, one exit code that agrees with it. */
export async function runOnce(args: Arguments): Promise<number> {
  const signals = watchSignals(exitCodes.cancelled);
  let deadline: Deadline | undefined;
  let ci: CiRun | undefined;
  try {
    ci = await openCi(!args.flags["no-ci-report"], complain);
    deadline = startDeadline(args.flags.deadline);
    const planned = await Promise.race([prepare(args, ci), signals.early, deadline.early]);
    const { options, prompt } = planned;
    const connecting = planned.mcpServers && connectServers(planned.mcpServers, args.flags, options);
    const mcp = connecting && (await Promise.race([connecting, signals.early, deadline.early]));
    const session = await openSession(
      {
        ...options,
        ...(mcp && (await withServers(options, mcp))),
      },
      { flags: args.flags, mcp },
    );
    signals.stop = () => session.abort("signal");
    deadline.stop = () => session.abort("deadline");
    try {
      const outcome = await runSession(session, prompt, { ...planned, flags: args.flags, ci, mcp });
      signals.exitCode = exitCodeOf(outcome);
      await endSession(session, complain);
      const code = signals.insisted ? exitCodes.killed : exitCodeOf(outcome);
      await ci?.end(outcome, code);
      return code;
    } finally {
      await session.shutdown();
      await mcp?.close();
    }
  } catch (error) {
    return await failEarly(error, earlyWish(args.flags), ci);
  } finally {
    deadline?.close();
    signals.close();
    // Whatever a tool or a library left open must not keep a finished run alive.
    setImmediate(() => process.exit());
  }
}

async function openSession(
  options: SessionOptions,
  { flags, mcp }: { flags: FlagValues; mcp: McpServers | undefined },
): Promise<InteractiveSession> {
  const special = [flags.agent, flags["permission-prompt-tool"], flags.debug, flags["debug-file"]];
  if (special.every((value) => value === undefined)) return new InteractiveSession(options);
  const { openSpecialSession } = await import("../special-session.ts");
  try {
    return await openSpecialSession(options, { flags, mcp, warn: complain });
  } catch (error) {
    await mcp?.close();
    throw error;
  }
}

function earlyWish(flags: FlagValues): EarlyWish {
  return { format: flags["output-format"], flavor: flags.flavor, sessionId: flags["session-id"] };
}

/** Everything that is needed before there is a session; what is wrong is found here. */
async function prepare(args: Arguments, ci: CiRun | undefined): Promise<Planned & { prompt: string }> {
  checkOutputFlags(args.flags);
  const planned = await planSession(args.flags, complain);
  await ci?.lookAround(planned.options.cwd);
  const prompt = await readPrompt({ positionals: args.positionals, warn: complain });
  await planned.begin();
  return { ...planned, prompt };
}

async function runSession(
  session: InteractiveSession,
  prompt: string,
  {
    flags,
    options,
    replay,
    keySource,
    ci,
    mcp,
  }: Planned & { flags: FlagValues; ci: CiRun | undefined; mcp: McpServers | undefined },
): Promise<ShownOutcome> {
  const output = new LineOutput(process.stdout, { descriptor: 1 });
  const { catalogOverride } = options;
  const format = await createOutputFormat({ flags, session, options, keySource, ...(mcp && { mcpServers: () => mcp.states }) });
  const progress = await showProgress(session, flags);
  const isFramed = !["text", "json"].includes(formatName(flags["output-format"]));
  ci?.follow({ task: prompt, sessionId: session.id, cwd: options.cwd, ...(catalogOverride && { catalogOverride }) });
  try {
    const judge = (ended: Outcome): Outcome => {
      const replayed = judgeReplay(ended, replay, flags);
      return format.judge?.(replayed) ?? replayed;
    };
    const watched = ci?.watch(format, (flags["output-format"] ?? "text") === "text" ? "text" : "json") ?? format;
    const told = progress || isFramed || flags.quiet ? watched : telling(watched);
    const outcome = await runPrompt(session, prompt, { format: told, output, judge });
    progress?.stop();
    if (output.failure) complain(`stdout cannot be written: ${output.failure.message}`);
    // JSON has it in its result.
    if (formatName(flags["output-format"]) === "text") for (const place of outcome.masked ?? []) complain(place);
    if (!output.closed) await explain(outcome, session, flags);
    return outcome;
  } finally {
    progress?.stop();
  }
}

/** Formats without a place for warnings while the run goes on: a person hears of them on stderr, each once. */
function telling(format: OutputFormat): OutputFormat {
  const told = new Set<string>();
  return {
    event(event) {
      if (event.type === "warning.raised" && !told.has(event.message)) {
        told.add(event.message);
        complain(event.message);
      }
      return format.event(event);
    },
    end: (outcome) => format.end(outcome),
  };
}

/** The tools of the servers, and the rules that came with them. */
async function withServers(options: SessionOptions, mcp: McpServers): Promise<Pick<SessionOptions, "tools" | "permissions">> {
  const { withServerRules } = await import("../mcp-servers.ts");
  return { tools: [...(options.tools ?? []), ...mcp.tools], permissions: withServerRules(options.permissions, mcp) };
}

async function connectServers(configs: McpServerConfigs, flags: FlagValues, options: SessionOptions): Promise<McpServers> {
  const { connectMcpServers } = await import("../mcp-servers.ts");
  return await connectMcpServers(configs, flags, { cwd: options.cwd, env: options.env ?? {}, warn: complain });
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

/** What a result is to look like that no session can write; a host finds it by the id it chose. */
export type EarlyWish = {
  readonly format: string | undefined;
  readonly flavor: string | undefined;
  readonly sessionId?: string | undefined;
};

/** A failure before there was a session: told on stderr, in the machine formats as the one result they promise, and to CI. */
export async function failEarly(thrown: unknown, wanted: EarlyWish, begun?: CiRun): Promise<number> {
  const ci = begun ?? (await openCi(wantsReport(process.argv.slice(2)), complain));
  const error = isWithoutFolder(thrown) ? noFolder() : toRuntimeError(thrown);
  const stopped = thrown instanceof StoppedEarly;
  const outcome = createRedactor({ env: process.env }).value<Outcome>(
    stopped ? { type: "cancelled", cause: thrown.by, text: "" } : { type: "failed", error: error.toJSON(), text: "" },
  );
  complain(error.message + (error.hint ? `\n${error.hint}` : ""));
  if (error.code === "usage") process.stderr.write("See outrider --help\n");
  if (!stopped && error.code === "internal" && error.cause instanceof Error) process.stderr.write(`${error.cause.stack}\n`);
  if (wanted.format === "atif-jsonl") {
    const { createAtifJsonlFormat } = await import("@outrider/runtime/atif");
    process.stdout.write(await (await createAtifJsonlFormat({ sessionId: "" })).end(outcome));
  }
  if (wanted.format === "json" || wanted.format === "stream-json") {
    const output = new LineOutput(process.stdout);
    const format = await createEarlyFormat(wanted.format, wanted);
    output.write(await (ci?.watch(format, "json") ?? format).end(outcome));
    await output.drain();
  }
  await ci?.end(outcome, exitCodeOf(outcome));
  return exitCodeOf(outcome);
}

/** Somebody has removed the folder in which the command was started. */
function isWithoutFolder(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown as NodeJS.ErrnoException).syscall === "uv_cwd"; // looked at only
}

function noFolder(): RuntimeError {
  return new RuntimeError("config", "The current directory is not there any more", {
    hint: "Change to a folder that is there, or name one with --cwd",
  });
}

/** Progress is for a person: on a terminal, outside CI, and not when asked to be quiet. `--verbose` says it in plain lines anywhere. */
async function showProgress(session: InteractiveSession, flags: FlagValues): Promise<{ stop(): void } | undefined> {
  if (flags.quiet) return undefined;
  // Frames on the same terminal and a moving line would write into each other.
  const framesOnTerminal = process.stdout.isTTY && formatName(flags["output-format"]) === "stream-json";
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
  if (outcome.limit === "loop")
    return `stopped: ${outcome.reason ?? "the same call had the same result again and again"} (--loop-stop)`;
  if (outcome.limit === "max-requests") return "stopped: no more models may be asked for this prompt (--max-requests)";
  if (outcome.limit === "max-turns") return `stopped: the model was asked ${flags["max-turns"]} times (--max-turns)`;
  return `stopped: more than ${flags["max-budget-usd"]} dollars are spent (--max-budget-usd)`;
}

function complain(message: string): void {
  process.stderr.write(`outrider: ${createRedactor({ env: process.env }).text(message)}\n`);
}
