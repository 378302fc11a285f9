import { readFileSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  createClaudeFormat,
  createFileStore,
  createIdSeries,
  type Effort,
  InteractiveSession,
  isPermissionMode,
  type JsonObject,
  LineOutput,
  loadCatalogOverride,
  loadFallback,
  loadProvider,
  loadUserSettings,
  type Outcome,
  type OutputFormatName,
  outputFormatNames,
  outriderHome,
  parseRule,
  type Provider,
  RuntimeError,
  randomUuid,
  runPrompt,
  type SessionOptions,
  scrubEnvironment,
  toRuntimeError,
  withFallback,
} from "@outrider/runtime";
import type { Arguments } from "../args.ts";
import { type Deadline, startDeadline } from "../deadline.ts";
import { exitCodeOf, exitCodes } from "../exit-codes.ts";
import type { FlagValues } from "../flags.ts";
import { numberBetween, positiveInteger, positiveNumber } from "../numbers.ts";
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
  const planned = await sessionOptions(args.flags);
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
  });
  const progress = await showProgress(session, flags);
  try {
    const judge = (ended: Outcome): Outcome => judgeReplay(ended, replay, flags);
    const outcome = await runPrompt(session, prompt, { format, output, judge });
    progress?.stop();
    if (!output.closed) await explain(outcome, session, flags);
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

type Planned = { options: SessionOptions; replay: { readonly remaining: number } | undefined };

async function sessionOptions(flags: FlagValues): Promise<Planned> {
  const env = process.env;
  const sessionId = flags["session-id"] ?? randomUuid();
  const home = outriderHome(env);
  const cwd = workingDirectory(flags.cwd);
  const mode = flags["permission-mode"];
  for (const rule of [...(flags.allowedTools ?? []), ...(flags.disallowedTools ?? [])]) parseRule(rule);
  const limits = limitOptions(flags);
  const settings = await loadUserSettings(home);
  const catalogOverride = await loadCatalogOverride(home);
  const { provider, replay, providerOptions, fallback } = await chooseProvider(flags, { settings, home, cwd });
  const options: SessionOptions = {
    cwd,
    provider,
    sessionId,
    env: scrubEnvironment(env),
    overflowDirectory: join(home, "overflow", sessionId),
    ...limits,
    ...(providerOptions && { providerOptions }),
    ...(catalogOverride && { catalogOverride }),
    ...(fallback && { fallback }),
    ...(!flags["no-session-persistence"] && { sessionStore: createFileStore(join(home, "sessions")) }),
    ...(isPermissionMode(mode) && { permissionMode: mode }),
    ...(flags.allowedTools && { allowedTools: flags.allowedTools }),
    ...(flags.disallowedTools && { disallowedTools: flags.disallowedTools }),
    ...(flags["system-prompt"] !== undefined && { systemPrompt: flags["system-prompt"] }),
    ...(flags["append-system-prompt"] !== undefined && { appendSystemPrompt: flags["append-system-prompt"] }),
    ...(flags["json-schema"] !== undefined && { outputSchema: readSchema(flags["json-schema"]) }),
  };
  return { options, replay };
}

function limitOptions(flags: FlagValues): Partial<SessionOptions> {
  return {
    ...(flags["max-turns"] !== undefined && { maxTurns: positiveInteger("--max-turns", flags["max-turns"]) }),
    ...(flags["max-tokens"] !== undefined && { maxOutputTokens: positiveInteger("--max-tokens", flags["max-tokens"]) }),
    ...(flags.thinking !== undefined && { thinkingTokens: positiveInteger("--thinking", flags.thinking) }),
    ...(flags.temperature !== undefined && { temperature: numberBetween("--temperature", flags.temperature, [0, 2]) }),
    ...(flags.effort !== undefined && { effort: flags.effort as Effort }), // its choices are the efforts
    ...(flags["max-budget-usd"] !== undefined && { maxBudgetUsd: positiveNumber("--max-budget-usd", flags["max-budget-usd"]) }),
    ...(flags["allow-unknown-price"] && { allowUnknownPrice: true }),
  };
}

type Settings = Awaited<ReturnType<typeof loadUserSettings>>;
type ChosenProvider = {
  provider: Provider;
  replay?: { readonly remaining: number };
  providerOptions?: JsonObject;
  fallback?: NonNullable<SessionOptions["fallback"]>;
};

async function chooseProvider(
  flags: FlagValues,
  facts: { settings: Settings; home: string; cwd: string },
): Promise<ChosenProvider> {
  if (flags.replay !== undefined && flags.record !== undefined)
    throw new RuntimeError("usage", "--replay and --record exclude each other");
  if (flags.replay !== undefined) {
    const { openReplay, placesOf } = await import("../recording.ts");
    const lenient = flags["replay-lenient"] ?? false;
    const replay = await openReplay(flags.replay, { home: facts.home, places: placesOf(facts.cwd), lenient, warn: complain });
    return { provider: replay, replay };
  }
  const choice = { ...(flags.provider && { provider: flags.provider }), ...(flags.model && { model: flags.model }) };
  const loaded = await loadProvider(choice, facts.settings, process.env);
  const { provider, options } = loaded;
  const model = flags["fallback-model"];
  const extras = {
    ...(options && { providerOptions: options }),
    ...(model && { fallback: await loadFallback(model, loaded, { settings: facts.settings, env: process.env }) }),
  };
  if (flags.record === undefined) return { provider, ...extras };
  const { placesOf, recordTo } = await import("../recording.ts");
  const { fallback, ...rest } = extras; // recorded as one: whoever answers is a part of the recording
  const recorded = recordTo(flags.record, fallback ? withFallback(provider, fallback) : provider, placesOf(facts.cwd));
  return { provider: recorded, ...rest };
}

function readSchema(text: string): JsonObject {
  const source = text.trim().startsWith("{") ? text : readSchemaFile(text);
  try {
    return JSON.parse(source) as JsonObject; // what it holds is checked by the session before anything is asked
  } catch (error) {
    throw new RuntimeError("usage", `--json-schema is no JSON: ${error instanceof Error ? error.message : error}`);
  }
}

function readSchemaFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new RuntimeError("usage", `--json-schema: ${error instanceof Error ? error.message : error}`);
  }
}

function workingDirectory(flag: string | undefined): string {
  const path = resolve(flag ?? ".");
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) throw new RuntimeError("usage", `--cwd: ${path} is ${stat ? "no directory" : "not there"}`);
  return realpathSync(path);
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
