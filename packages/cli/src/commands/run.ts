import { randomUUID } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  createClaudeFormat,
  createFileStore,
  InteractiveSession,
  isPermissionMode,
  LineOutput,
  loadProvider,
  type Outcome,
  type OutputFormatName,
  outriderHome,
  outputFormatNames,
  parseRule,
  RuntimeError,
  runPrompt,
  scrubEnvironment,
  type SessionOptions,
  toRuntimeError,
} from "@outrider/runtime";
import type { Arguments } from "../args.ts";
import { exitCodeOf, exitCodes } from "../exit-codes.ts";
import type { FlagValues } from "../flags.ts";
import { readPrompt } from "../prompt.ts";
import { watchSignals } from "../signals.ts";

/** The one-shot command: one prompt in, one result out, one exit code that agrees with it. */
export async function runOnce(args: Arguments): Promise<number> {
  const { flags } = args;
  const formatName = formatOf(flags["output-format"]);
  const options = await sessionOptions(flags);
  const prompt = await readPrompt({ positionals: args.positionals, stdin: process.stdin, warn: complain });
  const session = new InteractiveSession(options);
  const output = new LineOutput(process.stdout);
  const format = createClaudeFormat(formatName, { sessionId: session.id, newId: randomUUID });
  const signals = watchSignals({ stop: () => session.abort("signal"), exitCode: exitCodes.cancelled });
  const progress = await showProgress(session, flags);
  try {
    const outcome = await runPrompt(session, prompt, { format, output });
    progress?.stop();
    if (!output.closed) await explain(outcome, session, flags);
    await session.shutdown();
    return signals.insisted ? exitCodes.killed : exitCodeOf(outcome);
  } finally {
    progress?.stop();
    await session.shutdown();
    signals.close();
    // Whatever a tool or a library left open must not keep a finished run alive.
    setImmediate(() => process.exit());
  }
}

/** A failure before there was a session: told on stderr, and in the machine formats as the one result they promise. */
export async function failEarly(thrown: unknown, formatName: string | undefined): Promise<number> {
  const error = toRuntimeError(thrown);
  const outcome: Outcome = { type: "failed", error: error.toJSON(), text: "" };
  complain(error.message + (error.hint ? `\n${error.hint}` : ""));
  if (error.code === "usage") process.stderr.write("See outrider --help\n");
  if (error.code === "internal" && error.cause instanceof Error) process.stderr.write(`${error.cause.stack}\n`);
  if (formatName === "json" || formatName === "stream-json") {
    const output = new LineOutput(process.stdout);
    output.write(createClaudeFormat(formatName, { sessionId: "", newId: randomUUID }).end(outcome));
    await output.drain();
  }
  return exitCodeOf(outcome);
}

async function sessionOptions(flags: FlagValues): Promise<SessionOptions> {
  const env = process.env;
  const sessionId = flags["session-id"] ?? randomUUID();
  const home = outriderHome(env);
  const mode = flags["permission-mode"];
  for (const rule of [...(flags.allowedTools ?? []), ...(flags.disallowedTools ?? [])]) parseRule(rule);
  return {
    cwd: workingDirectory(flags.cwd),
    provider: await loadProvider(
      { ...(flags.provider && { provider: flags.provider }), ...(flags.model && { model: flags.model }) },
      env,
    ),
    sessionId,
    env: scrubEnvironment(env),
    overflowDirectory: join(home, "overflow", sessionId),
    ...(!flags["no-session-persistence"] && { sessionStore: createFileStore(join(home, "sessions")) }),
    ...(isPermissionMode(mode) && { permissionMode: mode }),
    ...(flags.allowedTools && { allowedTools: flags.allowedTools }),
    ...(flags.disallowedTools && { disallowedTools: flags.disallowedTools }),
    ...(flags["system-prompt"] !== undefined && { systemPrompt: flags["system-prompt"] }),
    ...(flags["append-system-prompt"] !== undefined && { appendSystemPrompt: flags["append-system-prompt"] }),
    ...(flags["max-turns"] !== undefined && { maxTurns: positiveInteger("--max-turns", flags["max-turns"]) }),
  };
}

function workingDirectory(flag: string | undefined): string {
  const path = resolve(flag ?? ".");
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) throw new RuntimeError("usage", `--cwd: ${path} is ${stat ? "no directory" : "not there"}`);
  return realpathSync(path);
}

function positiveInteger(flag: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new RuntimeError("usage", `${flag} needs a whole number above 0, not ${JSON.stringify(text)}`);
  return Number(text);
}

function formatOf(text: string | undefined): OutputFormatName {
  return outputFormatNames.find((name) => name === text) ?? "text";
}

/** Progress is for a person: on a terminal, outside CI, and not when asked to be quiet. `--verbose` says it in plain lines anywhere. */
async function showProgress(session: InteractiveSession, flags: FlagValues): Promise<{ stop(): void } | undefined> {
  if (flags.quiet) return undefined;
  const animated = process.stderr.isTTY && !process.env["CI"];
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
  else if (outcome.type === "stopped")
    complain(`stopped: the model was asked ${flags["max-turns"]} times (--max-turns)${record}`);
  else complain(`stopped before the end${record}`);
}

function complain(message: string): void {
  process.stderr.write(`outrider: ${message}\n`);
}
