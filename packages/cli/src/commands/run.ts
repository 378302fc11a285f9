import { fstatSync } from "node:fs";
import { type AgentEvent, type Outcome, RuntimeError, type UserMessage } from "@outrider/runtime";
import {
  LineOutput,
  type ModelCall,
  type OpenedSession,
  type OutputFormat,
  openSession,
  runPrompt,
  type SessionPlan,
  type ShownOutcome,
} from "@outrider/runtime/host";
import type { Arguments } from "../flags/args.ts";
import { openCi } from "../ci/open-ci.ts";
import type { CiRun } from "../ci/start-ci.ts";
import { type Deadline, startDeadline } from "../run/deadline.ts";
import { closeAll, endSession } from "../run/end-session.ts";
import type { Warnings } from "../run/framed-warnings.ts";
import { exitCodeOf, exitCodes } from "../exit-codes.ts";
import type { FlagValues } from "../flags/flags.ts";
import { ceilingsOf } from "../flags/numbers.ts";
import { checkOutputFlags, createOutputFormat, formatName } from "../run/output-format.ts";
import type { EarlyWish } from "../run/fail-early.ts";
import { planRun } from "../request/plan-run.ts";
import { type Prompt, readPrompt } from "../request/prompt.ts";
import { complain } from "../run/say.ts";
import { watchSignals } from "../run/signals.ts";
import type { Ending } from "../terminal/ending.ts";
import { isTerminal } from "../terminal/is-terminal.ts";
import type { Progress } from "../terminal/progress.ts";

/** The one-shot command: one prompt in, one result out, one exit code that agrees with it. */
export async function runOnce(args: Arguments): Promise<number> {
  const signals = watchSignals(exitCodes.cancelled);
  let deadline: Deadline | undefined;
  let ci: CiRun | undefined;
  try {
    ci = await openCi(!args.flags["no-ci-report"], complain, { narrates: isTold(args.flags) && !args.flags.verbose });
    const timer = startDeadline(args.flags.deadline);
    deadline = timer;
    const early = <T>(work: Promise<T>): Promise<T> => Promise.race([work, signals.early, timer.early]);
    const warnings = await warningsOf(args.flags);
    const { plan: planned, prompt } = await early(prepare(args, { ci, ...warnings }));
    const { plan, openCopy } = (await copied(planned)) ?? { plan: planned };
    const opened = await early(open(plan, args.flags, warnings.warn));
    const { session } = opened;
    signals.stop = () => session.abort("signal");
    timer.stop = () => session.abort("deadline");
    const close = (): Promise<void> => opened.close();
    const seen: Seen = { calls: [], denied: [] };
    const run = { plan, opened, prompt, flags: args.flags, ci, warnings, seen, stoppedBy: () => signals.signal };
    const outcome = await runSession({ ...run, copy: await openCopy?.(warnings.warn) }).catch(async (error: unknown) => {
      await closeAll(complain, [close]);
      throw error;
    });
    const begun = !!seen.ended; // else the session could not be opened
    signals.exitCode = exitCodeOf(outcome, { signal: signals.signal, begun });
    timer.exitCode = signals.exitCode; // a deadline that passes while the run closes changes nothing any more
    const insisted = signals.insisted && outcome.type !== "completed"; // two Ctrl-C that came too late change nothing
    const code = (): number => (insisted ? exitCodes.killed : exitCodeOf(outcome, { signal: signals.signal, begun }));
    await closeAll(complain, [() => endSession(session, complain), () => ci?.end(outcome, code()), close]);
    return code();
  } catch (error) {
    return await (await import("../run/fail-early.ts")).failEarly(error, earlyWish(args.flags), ci);
  } finally {
    deadline?.close();
    signals.settle();
    // Whatever a tool or a library left open must not keep a finished run alive.
    setImmediate(() => process.exit());
  }
}

/** The session for one prompt. Only a tool can be asked about permissions: there is no person. */
async function open(plan: SessionPlan, flags: FlagValues, warn: (line: string) => void): Promise<OpenedSession> {
  if (flags["permission-prompt-tool"] === "stdio" && flags["permission-prompts"] !== "none")
    throw new RuntimeError("usage", "--permission-prompt-tool stdio needs --input-format stream-json: the host answers there");
  const opened = await openSession(plan, { warn });
  const { session, answers } = opened;
  if (flags.debug || flags["debug-file"] !== undefined) (await import("../run/debug-log.ts")).watchDebug(session, flags);
  if (answers !== undefined && answers !== "host") {
    const { answerPermissionQuestions } = await import("@outrider/runtime/live");
    const { signal } = new AbortController(); // an answer that comes too late is not used; the end of the process ends the rest
    answerPermissionQuestions(session, { answerer: answers, turn: () => signal, warn });
  }
  return opened;
}

/** The plan of a session of which programs find a copy where Claude Code keeps its own, if it is to have one. */
async function copied(plan: SessionPlan): Promise<ReturnType<typeof import("../run/claude-sessions.ts")["withCopy"]>> {
  if (!process.env["OUTRIDER_CLAUDE_SESSIONS"]) return undefined;
  return (await import("../run/claude-sessions.ts")).withCopy(plan);
}

function earlyWish(flags: FlagValues): EarlyWish {
  return {
    format: flags["output-format"],
    flavor: flags.flavor,
    verbose: flags.verbose,
    sessionId: flags["session-id"],
  };
}

/** Everything that is needed before there is a session; what is wrong is found here. */
async function prepare(
  args: Arguments,
  { ci, warn }: { readonly ci: CiRun | undefined; readonly warn: (line: string) => void },
): Promise<{ plan: SessionPlan; prompt: Prompt }> {
  checkOutputFlags(args.flags);
  ceilingsOf(args.flags);
  const plan = await planRun(args.flags, warn);
  await ci?.lookAround(plan.options.cwd, args.flags);
  const prompt = await readPrompt({
    positionals: args.positionals,
    dashed: args.dashed,
    images: args.flags.image ?? [],
    documents: args.flags.pdf ?? [],
    warn,
  });
  await plan.begin();
  return { plan, prompt };
}

type Run = {
  readonly plan: SessionPlan;
  readonly opened: OpenedSession;
  readonly prompt: Prompt;
  readonly flags: FlagValues;
  readonly ci: CiRun | undefined;
  readonly warnings: Warnings;
  readonly seen: Seen;
  readonly copy: { add(event: AgentEvent): void } | undefined;
  /** The first signal that came. */
  readonly stoppedBy: () => NodeJS.Signals | undefined;
};

async function runSession({
  plan,
  opened: { session, mcp },
  prompt,
  flags,
  ci,
  warnings,
  seen,
  copy,
  stoppedBy,
}: Run): Promise<ShownOutcome> {
  const { options, replay, keySource } = plan;
  const output = new LineOutput(() => process.stdout, { descriptor: 1 });
  const { catalogOverride } = options;
  const mcpServers = mcp && (() => mcp.states);
  const format = warnings.among(await createOutputFormat({ flags, session, options, keySource, mcpServers }));
  const lenient = flags["replay-lenient"] ?? false;
  const judgeReplay = replay && (await import("../run/judge-replay.ts")).replayJudge(replay, lenient, warnings.warn);
  const progress = await showProgress(flags);
  const startedAt = Date.now();
  const isFramed = !["text", "json"].includes(formatName(flags["output-format"]));
  ci?.follow({ task: prompt.text, sessionId: session.id, cwd: options.cwd, page: flags.report, catalogOverride });
  try {
    const judge = (ended: Outcome): Outcome => {
      const replayed = judgeReplay?.(ended) ?? ended;
      return format.judge?.(replayed) ?? replayed;
    };
    const watched = ci?.watch(format, (flags["output-format"] ?? "text") === "text" ? "text" : "json") ?? format;
    const told = progress?.watch(watched) ?? (isFramed || flags.quiet ? watched : telling(watched));
    const outcome = await runPrompt(session, toMessage(prompt), {
      format: remembering(told, seen, copy),
      output,
      judge,
      eachTurn: formatName(flags["output-format"]) === "stream-json" && (flags.flavor ?? "claude") === "claude",
      ceilings: ceilingsOf(flags),
      finishesHooks: flags["include-hook-events"],
    });
    progress?.stop();
    if (output.failure) {
      const { tellUnwritten } = await import("../run/unread-answer.ts");
      complain(tellUnwritten(session.id, { why: output.failure.message, isKept: !flags["no-session-persistence"] }));
    }
    if (!isFramed && !flags.quiet && !isTerminal(1) && fstatSync(1).isCharacterDevice())
      (await import("../run/unread-answer.ts")).tellUnread(session.id, complain);
    // JSON has it in its result.
    if (formatName(flags["output-format"]) === "text") for (const place of outcome.masked ?? []) complain(place);
    if (!output.closed) {
      const denied = (flags["output-format"] ?? "text") === "text" && !flags.quiet ? seen.denied : [];
      if (seen.worktree !== undefined && !isFramed && formatName(flags["output-format"]) === "text") complain(seen.worktree);
      const isTold = progress !== undefined || ci?.isTold === true;
      if (outcome.type !== "completed" || denied.length > 0 || isTold)
        await (await import("../run/explain-ending.ts")).explainEnding(outcome, { session, flags, denied, stoppedBy });
      if (progress || ci?.isTold) await close({ outcome, sessionId: session.id, ...seen, startedAt, catalogOverride });
    }
    return outcome;
  } finally {
    progress?.stop();
  }
}

/** A prompt of words alone stays what it is: commands are looked for in it. */
function toMessage({ text, images }: Prompt): string | UserMessage {
  if (images.length === 0) return text;
  return { role: "user", content: [...images, { type: "text", text }] };
}

type Seen = { worktree?: string; calls: ModelCall[]; denied: AgentEvent<"tool.ended">[]; ended?: AgentEvent<"turn.ended"> };

/** Keeps what the last words about the run are made of. */
function remembering(format: OutputFormat, seen: Seen, copy: Run["copy"]): OutputFormat {
  return {
    event(event) {
      copy?.add(event);
      if (event.type === "message.ended" || event.type === "side-call.ended")
        seen.calls.push({ ...event, message: { ...event.message, content: [] } });
      else if (event.type === "tool.ended" && event.status === "denied") seen.denied.push(event);
      else if (event.type === "turn.ended" && event.taskId === undefined) seen.ended = event;
      else if (event.type === "worktree.inspected" && event.taskId === undefined) seen.worktree = event.summary;
      return format.event(event);
    },
    end: (outcome) => format.end(outcome),
  };
}

/** Frames have a place for warnings; a person reads them on stderr. */
export async function warningsOf({ "output-format": format, flavor }: FlagValues): Promise<Warnings> {
  if (format !== "stream-json" || flavor === "robota") return { warn: complain, among: (plain) => plain };
  return (await import("../run/framed-warnings.ts")).frameWarnings();
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

/** Frames are read by a program: what happens is in them, and only errors go to stderr. */
function isTold(flags: FlagValues): boolean {
  return !flags.quiet && formatName(flags["output-format"]) !== "stream-json";
}

/** Progress is for a person: on a terminal, outside CI, and not when asked to be quiet. With text, `--verbose` says it in plain lines anywhere. */
async function showProgress(flags: FlagValues): Promise<Progress | undefined> {
  const { CI, TERM } = process.env;
  // Frames on the same terminal and a moving line would write into each other.
  const isWatched = isTerminal(2) && !CI && (isTold(flags) || !isTerminal(1)) && !flags.quiet;
  const verbose = (flags.verbose ?? false) && formatName(flags["output-format"]) === "text" && isTold(flags); // else it is about frames
  if (!isWatched && !verbose) return undefined;
  const [{ startProgress }, { isColoured }] = await Promise.all([
    import("../terminal/progress.ts"),
    import("../terminal/paint.ts"),
  ]);
  const animated = isWatched && TERM !== "dumb";
  return startProgress({ stream: process.stderr, animated, coloured: isColoured(process.stderr), verbose });
}

async function close(facts: Omit<Ending, "coloured">): Promise<void> {
  const [{ toClosingLine }, { isColoured }] = await Promise.all([
    import("../terminal/ending.ts"),
    import("../terminal/paint.ts"),
  ]);
  process.stderr.write(`${await toClosingLine({ ...facts, coloured: isColoured(process.stderr) })}\n`);
}
