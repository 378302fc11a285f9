// Reads stored sessions through the SDK in a process of its own, as the SDK finds them by an environment variable of its process.
import {
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  listSessions,
  listSubagents,
} from "@anthropic-ai/claude-agent-sdk";

const [, , dir, sessionId] = process.argv;
const sessions = await listSessions({ dir });
const everywhere = await listSessions();
const messages = sessionId ? await getSessionMessages(sessionId, { dir }) : [];
const info = sessionId ? await getSessionInfo(sessionId, { dir }) : undefined;
const subagents = sessionId ? await listSubagents(sessionId, { dir }) : [];
const subagentMessages = subagents[0] ? await getSubagentMessages(sessionId, subagents[0], { dir }) : [];
process.stdout.write(JSON.stringify({ sessions, everywhere, messages, info, subagents, subagentMessages }));
