// Calls one function of the SDK in a process of its own, as the SDK finds sessions by an environment variable of its process.
import {
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  listSessions,
  renameSession,
  tagSession,
} from "@anthropic-ai/claude-agent-sdk";

const functions = { deleteSession, forkSession, getSessionInfo, getSessionMessages, listSessions, renameSession, tagSession };
const [, , name, args] = process.argv;
const answer = await functions[name](...JSON.parse(args));
process.stdout.write(JSON.stringify({ answer }));
