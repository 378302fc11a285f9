// Goes on with a session through the library: node resume-child.mjs HOME PROJECT SESSION URL STEPS SYNC
import { join } from "node:path";
import { createFileStore } from "../packages/runtime/src/journal/file-store.ts";
import type { SyncPolicy } from "../packages/runtime/src/journal/journal-file.ts";
import { createAnthropicProvider } from "../packages/runtime/src/model/providers/anthropic.ts";
import { InteractiveSession } from "../packages/runtime/src/session/interactive-session.ts";
import { promptFor } from "./scripted-agent.ts";

const [home = "", project = "", sessionId = "", url = "", steps = "", sync = "batch"] = process.argv.slice(2);
const store = createFileStore(join(home, "sessions"), { sync: sync as SyncPolicy });
const exists = (await store.read(sessionId)).some((event) => event.type === "turn.started");
const empty = (await store.read(sessionId)).length === 0;
const session = new InteractiveSession({
  cwd: project,
  provider: createAnthropicProvider({ apiKey: "torture", baseURL: url }),
  sessionStore: store,
  allowedTools: ["Bash", "Write"],
  overflowDirectory: join(home, "overflow"),
  ...(empty ? { sessionId } : { resumeSessionId: sessionId }),
});
const outcome = await session.submit(exists ? "Go on." : promptFor(Number(steps)));
await session.shutdown();
process.stdout.write(`${JSON.stringify(outcome)}\n`);
process.exit(outcome.type === "completed" ? 0 : 1);
