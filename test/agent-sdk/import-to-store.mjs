// What the SDK hands to a store when a session is imported, as JSON; in a process of its own, as the SDK finds sessions by its environment.
import { importSessionToStore } from "@anthropic-ai/claude-agent-sdk";

const [, , sessionId, dir] = process.argv;
const appended = [];
const store = {
  append: async (key, entries) => {
    appended.push({ key, entries });
  },
  load: async () => null,
};
await importSessionToStore(sessionId, store, { dir });
process.stdout.write(JSON.stringify(appended));
