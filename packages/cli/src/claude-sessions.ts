import { homedir } from "node:os";
import { join } from "node:path";
import { type AgentEvent, RuntimeError, type SessionOptions } from "@outrider/runtime";
import { openSessionFile, type SessionFile, sessionFilePath } from "@outrider/runtime/live";
import { entrypointOf, isSdk } from "./sdk-host.ts";

/** Where a copy of the session is kept for programs that look for Claude Code's; undefined when none is. */
export function copyPath({ cwd, sessionStore }: SessionOptions, sessionId: string): string | undefined {
  if (!sessionStore || !isWanted()) return undefined;
  return sessionFilePath({ configDirectory: configDirectory(), cwd, sessionId });
}

/** Opens the copy, with what the session holds already. */
export async function openCopy(
  { cwd, sessionStore, resumeSessionId }: SessionOptions,
  { sessionId, warn }: { sessionId: string; warn: (line: string) => void },
): Promise<SessionFile | undefined> {
  if (!sessionStore || !isWanted()) return undefined;
  const history: AgentEvent[] = resumeSessionId === undefined ? [] : await sessionStore.read(resumeSessionId);
  const entrypoint = entrypointOf(process.env) || "cli";
  return openSessionFile({ configDirectory: configDirectory(), sessionId, cwd, entrypoint, history, warn });
}

/** By default a copy is kept for whom it is made: programs that use the Agent SDK. */
function isWanted(): boolean {
  const word = process.env["OUTRIDER_CLAUDE_SESSIONS"] ?? "";
  if (word === "") return isSdk(process.env);
  if (word === "on" || word === "off") return word === "on";
  throw new RuntimeError("config", `OUTRIDER_CLAUDE_SESSIONS is on or off, not ${JSON.stringify(word)}`);
}

function configDirectory(): string {
  return process.env["CLAUDE_CONFIG_DIR"] || join(process.env["HOME"] || homedir(), ".claude");
}
