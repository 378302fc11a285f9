import { join } from "node:path";
import { createFileStore, RuntimeError, toRuntimeError } from "@outrider/runtime";
import { nearest, outriderHome } from "@outrider/runtime/host";
import { type Checkpoints, createCheckpoints, expireCheckpoints, sessionsWithCheckpoints } from "@outrider/runtime/admin";
import { exitCodes } from "../../exit-codes.ts";
import { findSession } from "../../request/find-session.ts";
import { print, visible } from "../../terminal/visible.ts";
import { type OwnWords, takeOwnWords } from "../../flags/words.ts";
import { countOf, describeCheckpoint, describeInspection, describeResult } from "./checkpoint-text.ts";

const usage = `Usage:
  outrider checkpoints list [--session SESSION]     list the checkpoints of a session, or the sessions that have some
  outrider checkpoints show CHECKPOINT --session SESSION
                                                    show its files, and what restore and rollback would do
  outrider checkpoints restore CHECKPOINT --session SESSION [--force] [--dry-run]
                                                    restore files as the checkpoint left them: undoes later changes
  outrider checkpoints rollback CHECKPOINT --session SESSION [--force] [--dry-run]
                                                    restore files as they were before it: undoes its changes too
  outrider checkpoints recover --session SESSION [--undo]
                                                    complete an interrupted restore, or undo it
  outrider checkpoints gc [--keep-days N] [--max-bytes N]
                                                    delete old checkpoints (30 days, 5 GiB)

CHECKPOINT is an id (turn-0003), its number, or the id of a turn or user message.
SESSION is an id, the first 8 or more characters of one, or a name. --json for programs.
Files that somebody else has changed since are not overwritten without --force; a restore can itself be rolled back.
Changes made by shell commands are not covered.

Exit codes: 0 done, or nothing to do · 1 refused: nothing was changed · 64 wrong usage · 66 no such session or checkpoint
`;

type Action = {
  readonly switches: readonly string[];
  readonly values: readonly string[];
  /** It is about one checkpoint. */
  readonly takesName?: boolean;
};

const restoring: Action = { switches: ["--force", "--dry-run", "--json"], values: ["--session"], takesName: true };

const actions: Readonly<Record<string, Action>> = {
  list: { switches: ["--json"], values: ["--session"] },
  show: { switches: ["--json"], values: ["--session"], takesName: true },
  restore: restoring,
  rollback: restoring,
  recover: { switches: ["--undo", "--json"], values: ["--session"] },
  gc: { switches: ["--json"], values: ["--keep-days", "--max-bytes"] },
};

/** The files a session changed: look at them, and go back. */
export async function runCheckpoints(args: readonly string[]): Promise<number> {
  if (args.length === 0 || args.includes("--help") || args.includes("-h")) return await say(usage);
  const [action = "", ...rest] = args;
  const words = takeWords(action, rest);
  const [name = ""] = words.rest;
  const json = words.has("--json");
  const home = outriderHome(process.env);
  const directory = join(home, "checkpoints");
  const session = words.value("--session");
  if (action === "gc") return await collect(directory, words, json);
  if (action === "list" && session === undefined) return await listSessions(directory, json);
  if (session === undefined)
    throw new RuntimeError(
      "usage",
      `checkpoints ${action} needs --session SESSION: outrider checkpoints list shows the sessions`,
    );
  const sessionId = await findKept(home, directory, session);
  const checkpoints = createCheckpoints({ directory, sessionId });
  switch (action) {
    case "list":
      return await list(checkpoints, json);
    case "show": {
      const inspection = await checkpoints.inspect(name);
      return json ? await say(`${JSON.stringify(inspection)}\n`) : await sayLines(describeInspection(inspection));
    }
    case "recover":
      return await recover(checkpoints, words.has("--undo") ? "undo" : "complete", json);
    default: {
      const restore = action === "restore" ? checkpoints.restoreTo : checkpoints.rollbackThrough;
      const result = await restore(name, { force: words.has("--force"), dryRun: words.has("--dry-run") });
      await (json ? say(`${JSON.stringify(result)}\n`) : sayLines(describeResult(result, { action, sessionId })));
      return result.type === "refused" ? exitCodes.error : exitCodes.success;
    }
  }
}

/** Every flag does something for its action, or is refused. */
function takeWords(name: string, args: readonly string[]): OwnWords {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) {
    const guess = nearest(name, Object.keys(actions));
    const said = `checkpoints has no action ${JSON.stringify(name)}${guess ? `; did you mean ${guess}?` : ""}`;
    throw new RuntimeError("usage", `${said}\n${usage}`);
  }
  const words = takeOwnWords(args, action);
  const flag = words.rest.find((word) => word.startsWith("-"));
  if (flag !== undefined) {
    const guess = nearest(flag, [...action.switches, ...action.values]);
    throw new RuntimeError(
      "usage",
      `checkpoints ${name} has no flag ${flag}${guess ? `; did you mean ${guess}?` : ""}\n${usage}`,
    );
  }
  if (action.takesName && words.rest.length !== 1)
    throw new RuntimeError(
      "usage",
      `checkpoints ${name} takes one checkpoint: outrider checkpoints list --session SESSION shows them`,
    );
  if (!action.takesName && words.rest.length > 0)
    throw new RuntimeError("usage", `checkpoints ${name} does not take ${words.rest.join(" ")}`);
  return words;
}

/** A session by id, name or the beginning of an id. Its journal may be gone while its checkpoints are still there. */
async function findKept(home: string, directory: string, word: string): Promise<string> {
  const known = sessionsWithCheckpoints(directory);
  if (known.includes(word)) return word;
  const byBeginning = word.length < 8 ? [] : known.filter((id) => id.startsWith(word));
  if (byBeginning.length === 1 && byBeginning[0] !== undefined) return byBeginning[0];
  const stored = await findSession(createFileStore(join(home, "sessions")), word).catch((error: unknown) => {
    if (toRuntimeError(error).code === "not-found") return undefined;
    throw error;
  });
  if (stored !== undefined && known.includes(stored)) return stored;
  const guess = nearest(word, known);
  throw new RuntimeError("not-found", `Session ${JSON.stringify(word)} has no checkpoints`, {
    hint: guess ? `Did you mean ${guess}?` : "outrider checkpoints list shows the sessions that have some",
  });
}

async function listSessions(directory: string, json: boolean): Promise<number> {
  const sessions = await Promise.all(
    sessionsWithCheckpoints(directory).map(async (sessionId) => {
      const checkpoints = await createCheckpoints({ directory, sessionId }).list();
      return { sessionId, checkpoints: checkpoints.length, last: checkpoints.at(-1)?.at ?? "" };
    }),
  );
  sessions.sort((a, b) => (a.last < b.last ? 1 : -1));
  if (json) return await say(sessions.map((session) => `${JSON.stringify(session)}\n`).join(""));
  const lines = sessions.map(
    ({ sessionId, checkpoints, last }) => `${sessionId}  ${last}  ${countOf(checkpoints, "checkpoint")}\n`,
  );
  return await say(lines.join("") || `No session has checkpoints in ${directory}\n`);
}

async function list(checkpoints: Checkpoints, json: boolean): Promise<number> {
  const all = await checkpoints.list();
  return json ? await say(all.map((one) => `${JSON.stringify(one)}\n`).join("")) : await sayLines(all.map(describeCheckpoint));
}

async function recover(checkpoints: Checkpoints, how: "complete" | "undo", json: boolean): Promise<number> {
  const recovery = await checkpoints.recover(how);
  if (json) return await say(`${JSON.stringify(recovery ?? null)}\n`);
  if (!recovery) return await say("No restore was cut off\n");
  const left = recovery.leftAlone.map((path) => `  left alone, as somebody else changed it since: ${path}`);
  return await sayLines([`${recovery.checkpointId} is ${how === "undo" ? "undone" : "complete"} now`, ...left]);
}

async function collect(directory: string, words: OwnWords, json: boolean): Promise<number> {
  const keepDays = toNumber(words, "--keep-days");
  const maxBytes = toNumber(words, "--max-bytes");
  const result = await expireCheckpoints({
    directory,
    keepDays,
    maxBytes,
  });
  if (json) return await say(`${JSON.stringify(result)}\n`);
  const { removedCheckpoints, removedSessions, skippedSessions, freedBytes, keptBytes } = result;
  const removed = `${countOf(removedCheckpoints, "checkpoint")} and all of ${countOf(removedSessions.length, "session")}`;
  return await sayLines([
    `Removed ${removed}: ${countOf(freedBytes, "byte")} freed, ${keptBytes} kept`,
    ...skippedSessions.map((session) => `Left alone, in use or damaged: ${session}`),
  ]);
}

function toNumber(words: OwnWords, flag: string): number | undefined {
  const text = words.value(flag);
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new RuntimeError("usage", `${flag} takes a number of 0 or more, not ${JSON.stringify(text)}`);
}

async function sayLines(lines: readonly string[]): Promise<number> {
  return await say(lines.map((line) => `${visible(line)}\n`).join(""));
}

async function say(text: string): Promise<number> {
  await print(text);
  return exitCodes.success;
}
