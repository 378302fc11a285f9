import { RuntimeError, type SessionStore } from "@outrider/runtime";
import { type ChooseSession, randomUuid, type SessionChoice } from "@outrider/runtime/host";
import type { FlagValues } from "../flags/flags.ts";
import { isClaude } from "../flags/flavor.ts";
import { isSdk } from "../run/sdk-host.ts";

/**
 * A new session, or the stored one the flags mean. With a fork, what is gone on with is the copy. Without one, a session that is to go on from
 * an earlier event keeps its id and its journal.
 */
export function chooseSession(flags: FlagValues, warn: (line: string) => void): ChooseSession {
  checkFlags(flags);
  if (isClaude(flags)) tellNeedless(flags, warn);
  return async (store, cwd) => {
    const id = flags["session-id"] ?? randomUuid();
    if (flags["load-trajectory"] !== undefined) return await fromTrajectoryFile(flags["load-trajectory"], { id, warn });
    if (flags.resume === undefined && !flags.continue) return { type: "new", id };
    if (!store) throw noStore(flags);
    return await chooseStored(flags, { id, store, cwd, warn });
  };
}

type Looking = {
  readonly id: string;
  readonly store: SessionStore;
  readonly cwd: string;
  readonly warn: (line: string) => void;
};

async function chooseStored(flags: FlagValues, { id, store, cwd, warn }: Looking): Promise<SessionChoice> {
  // An ordinary run starts without what looking for sessions takes.
  const { checkLeftBehind, findEvent, latestSession, nameOfFork } = await import("./find-session.ts");
  const source =
    flags.resume === undefined ? await latestSession(store, { cwd, warn }) : await findResumed(store, flags.resume, warn);
  const word = flags["resume-session-at"];
  if (source === undefined) {
    if (word !== undefined) throw new RuntimeError("not-found", `No conversation found to continue in ${cwd}`);
    warn(`No conversation found to continue in ${cwd}: a new one begins`);
    return { type: "new", id };
  }
  const at = word === undefined ? undefined : await findEvent(store, source, word);
  const turnId = flags["resume-drops-turn"];
  if (at !== undefined && turnId !== undefined) await checkLeftBehind(store, { source, at, turnId });
  if (!flags["fork-session"]) return { type: "resume", id: source, at };
  await checkFree(store, id);
  return { type: "fork", from: source, id, at, name: flags.name ?? (await nameOfFork(store, source)) };
}

function noStore(flags: FlagValues): RuntimeError {
  const flag = flags.resume === undefined ? "--continue" : "--resume";
  if (!flags["no-session-persistence"]) return new RuntimeError("config", `${flag}: nothing is kept where this runs`);
  return new RuntimeError("usage", `${flag} and --no-session-persistence exclude each other`, {
    hint: "To leave the stored session as it is, add --fork-session instead of --no-session-persistence",
  });
}

/** A copy that could not be made is refused before anything else is looked at. */
async function checkFree(store: SessionStore, id: string): Promise<void> {
  if (!(await store.list()).includes(id)) return;
  throw new RuntimeError("usage", `Session ${id} exists already`, { hint: "Choose another --session-id" });
}

/** One of our own; else, and always for programs that use the Agent SDK, with a look at the folder of Claude Code. */
async function findResumed(store: SessionStore, word: string, warn: (line: string) => void): Promise<string> {
  const { findSession } = await import("./find-session.ts");
  const isShared = isSdk(process.env) || process.env["OUTRIDER_CLAUDE_SESSIONS"] !== undefined;
  const own = isShared
    ? undefined
    : await findSession(store, word).catch((error: unknown) => {
        if (error instanceof RuntimeError && error.code === "not-found") return undefined;
        throw error;
      });
  if (own !== undefined) return own;
  const { findShared } = await import("../run/claude-sessions.ts");
  return await findShared(store, { word, find: (given) => findSession(store, given), warn });
}

/** A new session whose journal begins with what the trajectory tells. */
async function fromTrajectoryFile(
  path: string,
  { id, warn }: { id: string; warn: (line: string) => void },
): Promise<SessionChoice> {
  const { loadTrajectory, seedSession } = await import("@outrider/runtime/atif");
  const imported = loadTrajectory(path, { sessionId: id });
  for (const warning of imported.warnings) warn(warning);
  return { type: "new", id, seed: (store) => seedSession(store, id, imported) };
}

/** Claude Code passes over what has nothing to do. */
function tellNeedless(flags: FlagValues, warn: (line: string) => void): void {
  if (flags.resume !== undefined && flags.continue) warn("--continue has no effect beside --resume, which names the session");
  if (flags["fork-session"] && flags.resume === undefined && !flags.continue)
    warn("--fork-session has no effect: there is nothing to copy without --resume or --continue");
}

function checkFlags(flags: FlagValues): void {
  if (flags["load-trajectory"] !== undefined && (flags.resume !== undefined || flags.continue))
    throw new RuntimeError("usage", "--load-trajectory begins a new session: it excludes --resume and --continue");
  const resumes = flags.resume !== undefined || flags.continue === true;
  if (flags.resume?.trim() === "")
    throw new RuntimeError("usage", "--resume needs the id or the name of a session", {
      hint: "outrider sessions list shows them; --continue goes on with the latest of this folder",
    });
  if (!isClaude(flags) && flags.resume !== undefined && flags.continue)
    throw new RuntimeError("usage", "--resume and --continue exclude each other", {
      hint: "--resume names the session, --continue takes the latest of this folder",
    });
  if (!isClaude(flags) && flags["fork-session"] && !resumes)
    throw new RuntimeError("usage", "--fork-session needs a session to copy", { hint: "Add --resume ID|NAME or --continue" });
  if (flags["resume-session-at"] !== undefined && !resumes)
    throw new RuntimeError("usage", "--resume-session-at needs a session to go back in", {
      hint: "Add --resume ID|NAME or --continue",
    });
  if (flags["resume-drops-turn"] !== undefined && flags["resume-session-at"] === undefined)
    throw new RuntimeError("usage", "--resume-drops-turn says what --resume-session-at may leave behind", {
      hint: "Add --resume-session-at EVENT",
    });
  if (flags["session-id"] !== undefined) checkId(flags["session-id"]);
  if (flags["session-id"] !== undefined && resumes && !flags["fork-session"])
    throw new RuntimeError("usage", "--session-id is for a new session; one that is resumed keeps its id", {
      hint: "Leave --session-id out, or add --fork-session to go on in a copy under that id",
    });
  if (flags.name !== undefined) checkSessionName("--name", flags.name);
}

/** It becomes the name of a file and of a folder: also where no store looks at it. */
function checkId(id: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(id)) return;
  throw new RuntimeError("usage", `--session-id cannot be ${JSON.stringify(id.slice(0, 200))}`, {
    hint: 'Use a UUID, or up to 128 letters, digits, "-" and "_"',
  });
}

const longestName = 200;

/** A name is for people and for `--resume`: one line, and something to see. */
export function checkSessionName(flag: string, name: string): void {
  const problem =
    name.trim() === ""
      ? "cannot be empty"
      : name.length > longestName
        ? `cannot be longer than ${longestName} characters`
        : /[\p{Cc}\u2028\u2029]/u.test(name)
          ? "is one line, without control characters"
          : undefined;
  if (problem !== undefined) throw new RuntimeError("usage", `${flag}: the name of a session ${problem}`);
}
