import { createMemoryStore, RuntimeError, type SessionOptions, type SessionStore } from "@outrider/runtime";
import { randomUuid } from "@outrider/runtime/host";
import type { FlagValues } from "./flags.ts";

export type ChosenSession = {
  id: string;
  options: Pick<SessionOptions, "sessionId" | "resumeSessionId" | "sessionName" | "sessionStore">;
};

/** A new session, or the stored one the flags mean. A fork is made here: what is gone on with is the copy. */
export async function chooseSession(
  flags: FlagValues,
  { store, cwd, warn }: { store: SessionStore | undefined; cwd: string; warn: (line: string) => void },
): Promise<ChosenSession> {
  checkFlags(flags);
  const id = flags["session-id"] ?? randomUuid();
  if (flags["load-trajectory"] !== undefined) return await fromTrajectoryFile(flags["load-trajectory"], { id, store, warn });
  if (flags.resume === undefined && !flags.continue) return { id, options: { sessionId: id } };
  if (!store)
    throw new RuntimeError(
      "usage",
      `${flags.continue ? "--continue" : "--resume"} and --no-session-persistence exclude each other`,
      {
        hint: "To leave the stored session as it is, add --fork-session instead of --no-session-persistence",
      },
    );
  // An ordinary run starts without what looking for sessions takes.
  const { findSession, forkSession, latestSession, nameOfFork } = await import("./find-session.ts");
  const source = flags.resume === undefined ? await latestSession(store, cwd) : await findSession(store, flags.resume);
  if (!flags["fork-session"]) return { id: source, options: { resumeSessionId: source } };
  await forkSession(store, { source, newId: id, at: flags["resume-session-at"] });
  const sessionName = flags.name ?? (await nameOfFork(store, id));
  return { id, options: { resumeSessionId: id, ...(sessionName !== undefined && { sessionName }) } };
}

/** A new session whose journal begins with what the trajectory tells. */
async function fromTrajectoryFile(
  path: string,
  { id, store, warn }: { id: string; store: SessionStore | undefined; warn: (line: string) => void },
): Promise<ChosenSession> {
  const { loadTrajectory, seedSession } = await import("@outrider/runtime/atif");
  const imported = loadTrajectory(path, { sessionId: id });
  for (const warning of imported.warnings) warn(warning);
  const sessionStore = store ?? createMemoryStore();
  await seedSession(sessionStore, id, imported);
  return { id, options: { resumeSessionId: id, sessionStore } };
}

function checkFlags(flags: FlagValues): void {
  if (flags["load-trajectory"] !== undefined && (flags.resume !== undefined || flags.continue))
    throw new RuntimeError("usage", "--load-trajectory begins a new session: it excludes --resume and --continue");
  const resumes = flags.resume !== undefined || flags.continue === true;
  if (flags.resume?.trim() === "")
    throw new RuntimeError("usage", "--resume needs the id or the name of a session", {
      hint: "outrider sessions list shows them; --continue goes on with the latest of this folder",
    });
  if (flags.resume !== undefined && flags.continue)
    throw new RuntimeError("usage", "--resume and --continue exclude each other", {
      hint: "--resume names the session, --continue takes the latest of this folder",
    });
  if (flags["fork-session"] && !resumes)
    throw new RuntimeError("usage", "--fork-session needs a session to copy", { hint: "Add --resume ID|NAME or --continue" });
  if (flags["resume-session-at"] !== undefined && !flags["fork-session"])
    throw new RuntimeError("usage", "--resume-session-at goes on in a copy, as what came later is not thrown away", {
      hint: `Add --fork-session${resumes ? "" : " and --resume ID|NAME"}`,
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
