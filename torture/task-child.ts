// A session with two agents and a command in the background, and a group of all three: node task-child.mjs HOME PROJECT SESSION URL
// Prints a line for everything that was acknowledged. Called again it goes on with the session, and prints what it finds.
import { join } from "node:path";
import { writeSync } from "node:fs";
import { createFileStore } from "../packages/runtime/src/journal/file-store.ts";
import { createAnthropicProvider } from "../packages/runtime/src/model/providers/anthropic.ts";
import { InteractiveSession } from "../packages/runtime/src/session/interactive-session.ts";
import { builtinAgents } from "../packages/runtime/src/tasks/agent-definition.ts";
import { goOnPrompt, launchPrompt } from "./task-model.ts";

const [home = "", project = "", sessionId = "", url = ""] = process.argv.slice(2);
const store = createFileStore(join(home, "sessions"));
const stored = await store.read(sessionId);
const isAsked = stored.some((event) => event.type === "turn.started" && event.tasks === undefined);
const session = new InteractiveSession({
  cwd: project,
  provider: createAnthropicProvider({ apiKey: "torture", baseURL: url }),
  sessionStore: store,
  agents: builtinAgents,
  allowedTools: ["Bash"],
  overflowDirectory: join(home, "overflow"),
  ...(stored.length === 0 ? { sessionId } : { resumeSessionId: sessionId }),
});
const say = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);

const outcome = await session.submit(isAsked ? goOnPrompt : launchPrompt);
say({ outcome: outcome.type });
const taskIds = session.listBackgroundTasks().map(({ id }) => id);
for (const id of taskIds) say({ task: id });
if (!isAsked) {
  const group = await session.createBackgroundJobGroup({ waitPolicy: "wait_all", taskIds });
  say({ group: group.id });
}
for (const { id } of session.listBackgroundJobGroups()) {
  const { status } = await session.waitBackgroundJobGroup(id);
  say({ group: id, status });
}
await session.finishBackgroundTasks({ processMs: 30_000 });
await session.shutdown();
process.exit(outcome.type === "completed" ? 0 : 1);
