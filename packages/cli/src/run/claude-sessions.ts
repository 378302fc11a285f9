import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, sep } from "node:path";
import { type AgentEvent, type JsonObject, RuntimeError, type SessionOptions, type SessionStore } from "@outrider/runtime";
import type { SessionPlan } from "@outrider/runtime/host";
import { findSessionFile, openSessionFile, type SessionFile, sessionFilePath } from "@outrider/runtime/live";
import { entrypointOf, isSdk } from "./sdk-host.ts";

/** Where a copy of the session is kept for programs that look for Claude Code's; undefined when none is. One that is there is gone on with. */
export function copyPath({ cwd, sessionStore, resumeSessionId }: SessionOptions, sessionId: string): string | undefined {
  if (!sessionStore || !isWanted()) return undefined;
  const found = resumeSessionId === undefined ? undefined : findSessionFile(configDirectory(), sessionId);
  return found?.path ?? sessionFilePath({ configDirectory: configDirectory(), cwd, sessionId });
}

/** The plan with its place for a copy, and the way to open that; undefined when none is kept. */
export function withCopy(
  plan: SessionPlan,
): { plan: SessionPlan; openCopy: (warn: (line: string) => void) => Promise<SessionFile | undefined> } | undefined {
  const { options, sessionId } = plan;
  const transcriptPath = copyPath(options, sessionId);
  if (transcriptPath === undefined) return undefined;
  const placed = { ...options, transcriptPath };
  return { plan: { ...plan, options: placed }, openCopy: (warn) => openCopy(placed, { sessionId, warn }) };
}

/** Opens the copy, with what the session holds already. */
export async function openCopy(
  { sessionStore, resumeSessionId, transcriptPath: path }: SessionOptions,
  {
    sessionId,
    onWritten,
    warn,
  }: { sessionId: string; onWritten?: (path: string, lines: JsonObject[]) => void; warn: (line: string) => void },
): Promise<SessionFile | undefined> {
  if (!sessionStore || path === undefined) return undefined;
  const history: AgentEvent[] = resumeSessionId === undefined ? [] : await sessionStore.read(resumeSessionId);
  return openSessionFile({ path, sessionId, entrypoint: entrypointOf(process.env) || "cli", history, onWritten, warn });
}

/**
 * The session that `--resume` means, as it stands for programs that read and write the folder of Claude Code: one that was made, copied,
 * gone on with or named there is taken over into the journal, and one whose copy they deleted is gone for them.
 */
export async function findShared(
  store: SessionStore,
  { word, find, warn }: { word: string; find: (word: string) => Promise<string>; warn: (line: string) => void },
): Promise<string> {
  const own = await find(word).catch((error: unknown) => {
    if (error instanceof RuntimeError && error.code === "not-found" && !isOff()) return error;
    throw error;
  });
  if (typeof own === "string" && !isWanted()) return own;
  const file = findSessionFile(configDirectory(), typeof own === "string" ? own : word);
  if (!file) {
    if (typeof own !== "string") throw own;
    await checkNotDeleted(store, own);
    return own;
  }
  const { importSession } = await import("@outrider/runtime/live");
  const { added, title, problem } = await importSession(store, file);
  if (problem !== undefined) warn(problem);
  if (typeof own !== "string" && added > 0) warn(`Session ${file.sessionId} was taken over from ${file.path}`);
  if (title !== undefined) await store.rename(file.sessionId, title).catch(passOverLock);
  return file.sessionId;
}

/** Somebody else works with it; it is called so the next time. */
function passOverLock(error: unknown): void {
  if (!(error instanceof RuntimeError && error.code === "session-locked")) throw error;
}

/** A copy that was kept in this very folder and is not there any more was deleted by somebody who means the session. */
async function checkNotDeleted(store: SessionStore, id: string): Promise<void> {
  const started = (await store.read(id)).findLast((event) => event.type === "session.started");
  const path = started?.transcriptPath;
  if (path === undefined || !path.startsWith(configDirectory() + sep) || existsSync(path)) return;
  throw new RuntimeError("not-found", `No conversation found with session ID: ${id}`, {
    hint: `Its copy ${path} was deleted; outrider -p --resume ${id} goes on with the journal, outrider sessions rm ${id} removes that too`,
  });
}

/** By default a copy is kept for whom it is made: programs that use the Agent SDK. */
function isWanted(): boolean {
  const word = process.env["OUTRIDER_CLAUDE_SESSIONS"] ?? "";
  if (word === "") return isSdk(process.env);
  if (word === "on" || word === "off") return word === "on";
  throw new RuntimeError("config", `OUTRIDER_CLAUDE_SESSIONS is on or off, not ${JSON.stringify(word)}`);
}

function isOff(): boolean {
  return process.env["OUTRIDER_CLAUDE_SESSIONS"] === "off";
}

function configDirectory(): string {
  return process.env["CLAUDE_CONFIG_DIR"] || join(process.env["HOME"] || homedir(), ".claude");
}
