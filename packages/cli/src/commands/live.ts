import { type InteractiveSession, type JsonObject, RuntimeError } from "@outrider/runtime";
import { createIdSeries, createRedactor, LineOutput, resolveModelWord, type SessionPlan } from "@outrider/runtime/host";
import { type LiveSession, type PromptsView, runLive } from "@outrider/runtime/live";
import { parseMcpServers } from "@outrider/runtime/mcp";
import { ceilingsOf } from "../flags/numbers.ts";
import type { Arguments } from "../flags/args.ts";
import { openCi } from "../ci/open-ci.ts";
import type { CiRun } from "../ci/start-ci.ts";
import { copyPath } from "../run/claude-sessions.ts";
import { type Deadline, startDeadline } from "../run/deadline.ts";
import { closeAll, endSession } from "../run/end-session.ts";
import { exitCodeOf, exitCodes } from "../exit-codes.ts";
import { describeSession, openLiveSession } from "../run/live-session.ts";
import { checkOutputFlags, createEarlyFormat, liveFormatName } from "../run/output-format.ts";
import { planRun } from "../request/plan-run.ts";
import { isSdk } from "../run/sdk-host.ts";
import { watchSignals } from "../run/signals.ts";
import { complain } from "../run/say.ts";
import { failEarly } from "../run/fail-early.ts";
import { warningsOf } from "./run.ts";

/** `--input-format stream-json`: a host writes messages and requests, line by line, and reads frames. */
export async function runLiveCommand(args: Arguments, ignored: readonly string[]): Promise<number> {
  const { flags } = args;
  const format = liveFormatName(flags);
  checkOutputFlags(flags);
  const isClaude = (flags.flavor ?? "claude") === "claude";
  const misplaced = args.positionals.some((word) => word !== "-")
    ? "With --input-format stream-json the prompt comes on stdin"
    : "";
  if (misplaced && !isClaude) throw new RuntimeError("usage", `${misplaced}, not as an argument`);
  const signals = watchSignals(exitCodes.cancelled);
  let deadline: Deadline | undefined;
  let opened: Awaited<ReturnType<typeof openLiveSession>> | undefined;
  let ci: CiRun | undefined;
  const giveUp = new AbortController();
  const warnings = await warningsOf(flags);
  const { warn } = warnings;
  if (misplaced) warn(`${misplaced}: the argument has no effect`);
  try {
    ci = await openCi(!flags["no-ci-report"], complain, { hosted: isSdk(process.env) });
    deadline = startDeadline(flags.deadline);
    const ceilings = ceilingsOf(flags);
    const plan = forHost(ignored, await Promise.race([planRun(flags, warn), signals.early, deadline.early]));
    const { options, sessionId } = plan;
    await plan.begin();
    await ci?.lookAround(options.cwd, flags);
    const prompts: PromptsView = { look: () => ({ uuids: [], waiting: 0 }) };
    const early = await createEarlyFormat(format, { flavor: flags.flavor, sessionId, live: true, prompts: () => prompts.look() });
    const live = runLive({
      input: process.stdin,
      output: new LineOutput(process.stdout, { descriptor: 1, ...(ci && { rewrite: ci.rewrite }) }),
      sessionId,
      ceilings,
      newId: createIdSeries(),
      early: warnings.among(early),
      replayUserMessages: (flags["replay-user-messages"] ?? false) && isClaude, // others have frames of their own
      finishesHooks: flags["include-hook-events"],
      prompts,
      notices: { fates: isClaude, states: isClaude && process.env["CLAUDE_CODE_SDK_READS_SESSION_STATE"] === "1" },
      awaitInitialize: flags["await-initialize"] ?? false,
      catalogOverride: options.catalogOverride,
      previewFormat: process.env["CLAUDE_CODE_QUESTION_PREVIEW_FORMAT"],
      strict: !isClaude,
      warn,
      redactor: createRedactor({ env: process.env }),
      async open(setup, ways) {
        const live = await openLiveSession({ flags, plan, setup, ways, warnings, prompts, giveUp: giveUp.signal });
        opened = ci ? { ...live, ...reported(live, ci, options) } : live;
        return opened;
      },
      describe: (setup) => describeSession(plan, setup),
      parseServers(value) {
        const servers = parseMcpServers(value ?? {}, { source: "mcp_set_servers", env: process.env });
        return new Map([...servers].map(([name, config]) => [name, { ...config, source: "dynamic" }]));
      },
      resolveModel: (name) => resolveModelWord(name, { ...options, warn }),
      settings: async () => await (await import("../run/told-settings.ts")).toldSettings(plan.resolved),
      rewind,
    });
    const stop = (cause: "signal" | "deadline"): void => {
      giveUp.abort();
      live.stop(cause);
    };
    signals.stop = () => stop("signal");
    deadline.stop = () => stop("deadline");
    const outcome = await live.done;
    signals.exitCode = exitCodeOf(outcome, { signal: signals.signal, begun: true });
    deadline.exitCode = signals.exitCode; // as in a run of one prompt: what passes now is too late
    const insisted = signals.insisted && outcome.type !== "completed";
    const code = (): number => (insisted ? exitCodes.killed : exitCodeOf(outcome, { signal: signals.signal, begun: true }));
    await closeAll(complain, [() => opened && endSession(opened.session, complain), () => ci?.end(outcome, code())]);
    return code();
  } catch (error) {
    return await failEarly(error, { format: "stream-json", flavor: flags.flavor, sessionId: flags["session-id"] }, ci);
  } finally {
    await closeAll(complain, [() => opened?.close()]);
    deadline?.close();
    signals.settle();
    // Whatever a tool, a server or an open stdin keeps must not keep a finished run alive.
    setImmediate(() => process.exit());
  }
}

/** The report of a run is about all of its prompts. */
function reported(live: LiveSession, ci: CiRun, { cwd, catalogOverride }: SessionPlan["options"]): LiveSession {
  ci.follow({ sessionId: live.session.id, cwd, catalogOverride });
  return {
    ...live,
    alsoTo(event) {
      ci.apply(event);
      live.alsoTo?.(event);
    },
  };
}

/** Programs that use the Agent SDK find the session where they look for it, and hooks are told of that place. */
function forHost(ignored: readonly string[], plan: SessionPlan): SessionPlan {
  const { options, sessionId } = plan;
  const warnings = [...(options.warnings ?? []), ...ignored];
  return { ...plan, options: { ...options, transcriptPath: copyPath(options, sessionId), warnings } };
}

async function rewind(turnId: string, dryRun: boolean, session: () => Promise<InteractiveSession>): Promise<JsonObject> {
  const isWanted = !isSdk(process.env) || /^(1|true)$/i.test(process.env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] ?? "");
  if (!isWanted) throw new RuntimeError("usage", "File rewinding is not enabled.");
  const { checkpoints } = await (await session()).controls();
  return JSON.parse(JSON.stringify(await checkpoints.rewindFiles(turnId, { dryRun }))) as JsonObject; // data only
}
