import { type JsonObject, RuntimeError } from "@outrider/runtime";
import { createIdSeries, LineOutput } from "@outrider/runtime/host";
import { type LiveSession, runLive } from "@outrider/runtime/live";
import { parseMcpServers } from "@outrider/runtime/mcp";
import type { Arguments } from "../args.ts";
import { copyPath } from "../claude-sessions.ts";
import { type Deadline, startDeadline } from "../deadline.ts";
import { exitCodeOf, exitCodes } from "../exit-codes.ts";
import type { FlagValues } from "../flags.ts";
import { describeSession, openLiveSession } from "../live-session.ts";
import { resolveModelWord } from "../model-words.ts";
import { checkLiveFormat, createEarlyFormat } from "../output-format.ts";
import { type Planned, planSession } from "../plan-session.ts";
import { isSdk } from "../sdk-host.ts";
import { watchSignals } from "../signals.ts";

/** `--input-format stream-json`: a host writes messages and requests, line by line, and reads frames. */
export async function runLiveCommand(args: Arguments, warn: (line: string) => void): Promise<number> {
  const flags = withCopy(args.flags, warn);
  checkLiveFormat(flags);
  if (args.positionals.some((word) => word !== "-"))
    throw new RuntimeError("usage", "With --input-format stream-json the prompt comes on stdin, not as an argument");
  const signals = watchSignals(exitCodes.cancelled);
  let deadline: Deadline | undefined;
  let opened: LiveSession | undefined;
  try {
    deadline = startDeadline(flags.deadline);
    const planned = await Promise.race([planSession(flags, warn), signals.early, deadline.early]);
    const { options } = planned;
    const sessionId = options.resumeSessionId ?? options.sessionId ?? "";
    const live = runLive({
      input: process.stdin,
      output: new LineOutput(process.stdout),
      sessionId,
      newId: createIdSeries(),
      early: createEarlyFormat("stream-json", { flavor: flags.flavor, sessionId, live: true }),
      replayUserMessages: (flags["replay-user-messages"] ?? false) && (flags.flavor ?? "claude") === "claude", // others have frames of their own
      awaitInitialize: flags["await-initialize"] ?? false,
      transcriptPath: copyPath(planned.options, sessionId),
      warn,
      async open(setup, ways) {
        opened = await openLiveSession({ flags, planned, setup, ways, warn });
        return opened;
      },
      describe: (setup) => describeSession(planned, setup),
      parseServers(value) {
        const servers = parseMcpServers(value ?? {}, { source: "mcp_set_servers", env: process.env });
        return new Map([...servers].map(([name, config]) => [name, { ...config, source: "dynamic" }]));
      },
      resolveModel: (name) => resolveModelWord(name, { ...options, warn }),
      settings: () => settingsOf(planned.resolved),
      rewind: (turnId, dryRun) => rewind(planned, turnId, dryRun),
    });
    signals.stop = () => live.stop("signal");
    deadline.stop = () => live.stop("deadline");
    const outcome = await live.done;
    return signals.insisted ? exitCodes.killed : exitCodeOf(outcome);
  } finally {
    await opened?.session.shutdown();
    await opened?.mcp?.close();
    deadline?.close();
    signals.close();
    // Whatever a tool, a server or an open stdin keeps must not keep a finished run alive.
    setImmediate(() => process.exit());
  }
}

/** Hosts may resume at an earlier message without a word on a copy. What came later is not thrown away: the copy is made. */
function withCopy(flags: FlagValues, warn: (line: string) => void): FlagValues {
  if (flags["resume-session-at"] === undefined || flags["fork-session"]) return flags;
  warn("--resume-session-at goes on in a copy of the session, under a new id");
  return { ...flags, "fork-session": true };
}

async function rewind({ options }: Planned, turnId: string, dryRun: boolean): Promise<JsonObject> {
  const isWanted = !isSdk(process.env) || /^(1|true)$/i.test(process.env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] ?? "");
  const checkpoints = isWanted ? await options.checkpoints?.() : undefined;
  if (!checkpoints) throw new RuntimeError("usage", "File rewinding is not enabled.");
  return JSON.parse(JSON.stringify(await checkpoints.rewindFiles(turnId, { dryRun }))) as JsonObject; // data only
}

/** What holds, by key; secrets are hidden. */
function settingsOf({ explain, sources, files }: Planned["resolved"]): JsonObject {
  const effective = Object.fromEntries(explain().map(({ key, value }) => [key, value ?? null]));
  return { effective, sources: [...sources], files: [...files] };
}
