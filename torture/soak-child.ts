// One live session with so many tasks in the background: node --expose-gc soak-child.mjs HOME PROJECT URL TASKS
// Every round is a prompt to which the model starts commands and agents; a line says what the process holds after some of the rounds.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createFileStore } from "../packages/runtime/src/journal/file-store.ts";
import { createAnthropicProvider } from "../packages/runtime/src/model/providers/anthropic.ts";
import { InteractiveSession } from "../packages/runtime/src/session/interactive-session.ts";
import { soakPrompt, tasksPerRound } from "./soak-model.ts";
import { builtinAgents } from "../packages/runtime/src/tasks/agent-definition.ts";

/** What a process holds after so many tasks. */
export type Held = { readonly tasks: number; readonly heapKb: number; readonly rssKb: number; readonly descriptors: number };

/** What the process does while so many tasks do nothing for so long. */
export type Idle = { readonly idleTasks: number; readonly idleMs: number; readonly cpuMs: number };

const idleTasks = 16;
const settlingMs = 500;
const idleMs = 2_000;

const [home = "", project = "", url = "", count = ""] = process.argv.slice(2);
const { gc } = globalThis as { gc?: () => void };
const rounds = Math.ceil(Number(count) / tasksPerRound);
const session = new InteractiveSession({
  cwd: project,
  provider: createAnthropicProvider({ apiKey: "torture", baseURL: url }),
  sessionStore: createFileStore(join(home, "sessions")),
  agents: builtinAgents,
  allowedTools: ["Bash"],
  overflowDirectory: join(home, "overflow"),
});
for (let round = 1; round <= rounds; round++) {
  await session.submit(soakPrompt);
  await session.finishBackgroundTasks({ processMs: 60_000 });
  await session.submit("/clear");
  if (round % Math.ceil(rounds / 10) === 0) say(look(round * tasksPerRound));
}
const spawner = session.createExecutionWorkspaceTaskSpawner({ kind: "system" });
for (let task = 0; task < idleTasks; task++) await spawner.spawn({ kind: "process", label: "idle", command: "sleep 600" });
await pause(settlingMs);
const before = process.cpuUsage();
await pause(idleMs);
const { user, system } = process.cpuUsage(before);
say({ idleTasks, idleMs, cpuMs: (user + system) / 1000 });
await session.shutdown();

function say(line: Held | Idle): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function look(tasks: number): Held {
  gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  const descriptors = readdirSync("/proc/self/fd").length;
  return { tasks, heapKb: Math.round(heapUsed / 1024), rssKb: Math.round(rss / 1024), descriptors };
}
