// `make FOLDER COUNT`: a session in which so many tasks have ended. `open FOLDER COUNT`: goes on with it, and prints the processor time since the process began.
import { join } from "node:path";
import { createFileStore, createScriptedProvider, InteractiveSession } from "../packages/runtime/dist/index.js";

const [mode, folder, countText] = process.argv.slice(2);
const count = Number(countText);
const store = createFileStore(join(folder, "sessions"), { sync: "never" });

if (mode === "make") await make();
else console.log(JSON.stringify(await open()));

/** Tasks that are over as soon as they have begun: the session records each of them as any other. */
async function make() {
  const runner = { kind: "process", start: ({ taskId }) => ({ result: end(taskId), cancel: async () => {} }) };
  const session = new InteractiveSession({ ...options(), sessionId: sessionId(), backgroundTaskRunners: [runner] });
  await session.submit("hello");
  const spawner = session.createExecutionWorkspaceTaskSpawner({ kind: "system" });
  for (let task = 0; task < count; task++)
    await spawner.spawn({ kind: "process", label: "build", command: "make all", mode: "foreground" });
  await session.finishBackgroundTasks();
  if (session.listBackgroundTasks().length !== count) throw new Error("Tasks are missing");
  await session.shutdown();
}

async function end(taskId) {
  return { taskId, kind: "process", output: "made all of it\n".repeat(20), exitCode: 0 };
}

/** A turn in the session, as a program that goes on with it has it. */
async function open() {
  const session = new InteractiveSession({ ...options(), resumeSessionId: sessionId() });
  const outcome = await session.submit("hello");
  const { user, system } = process.cpuUsage();
  if (outcome.type !== "completed") throw new Error(`The turn went wrong: ${JSON.stringify(outcome)}`);
  await session.shutdown();
  return { cpuMs: (user + system) / 1000 };
}

function options() {
  return { cwd: folder, provider: createScriptedProvider([{ text: "Hello." }]), sessionStore: store, tools: [], wakes: false };
}

function sessionId() {
  return `ended-${count}`;
}
