import { InteractiveSession, RuntimeError, type SessionOptions } from "@outrider/runtime";
import type { McpServers } from "@outrider/runtime/mcp";
import { watchDebug } from "./debug-log.ts";
import type { FlagValues } from "./flags.ts";
import { withMainAgent } from "./main-agent.ts";

/** A session for one prompt, with `--agent`, `--permission-prompt-tool`, `--debug` and `--debug-file`. */
export async function openSpecialSession(
  options: SessionOptions,
  { flags, mcp, warn }: { flags: FlagValues; mcp: McpServers | undefined; warn: (line: string) => void },
): Promise<InteractiveSession> {
  const chosen = flags.agent === undefined ? options : await withMainAgent(options, flags.agent, warn);
  const tool = flags["permission-prompts"] === "none" ? undefined : flags["permission-prompt-tool"];
  if (tool === undefined) {
    const session = new InteractiveSession(chosen);
    watchDebug(session, flags);
    return session;
  }
  if (tool === "stdio")
    throw new RuntimeError("usage", "--permission-prompt-tool stdio needs --input-format stream-json: the host answers there");
  if (!mcp)
    throw new RuntimeError("config", `--permission-prompt-tool: there is no MCP tool ${tool}`, {
      hint: "Give its server with --mcp-config",
    });
  const { answerPermissionQuestions, askPermissionTool } = await import("@outrider/runtime/live");
  const answerer = askPermissionTool(mcp, tool);
  const session = new InteractiveSession({ ...chosen, answersPermissions: true });
  watchDebug(session, flags);
  const { signal } = new AbortController(); // an answer that comes too late is not used; the end of the process ends the rest
  answerPermissionQuestions(session, { answerer, turn: () => signal, warn });
  return session;
}
