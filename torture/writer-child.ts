// One of two processes that want the same sessions: node writer-child.mjs FOLDER NAME; each message from the parent is a session to try.
import { createFileStore } from "../packages/runtime/src/journal/file-store.ts";
import { RuntimeError } from "../packages/runtime/src/protocol/errors.ts";
import type { AgentEvent } from "../packages/runtime/src/protocol/events.ts";

const [folder = "", name = ""] = process.argv.slice(2);
const store = createFileStore(folder, { sync: "never" });

process.on("message", ({ sessionId, startAt }: { sessionId: string; startAt: number }) => {
  while (Date.now() < startAt); // both at the same moment
  void attempt(sessionId).then((result) => process.send?.(result));
});

async function attempt(sessionId: string): Promise<string> {
  try {
    const writer = await store.open(sessionId);
    const first = writer.events.lastSeq + 1;
    for (let index = 0; index < 5; index++) {
      await writer.append([event(first + index, sessionId)]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writer.close();
    return "wrote";
  } catch (error) {
    return error instanceof RuntimeError ? error.code : String(error);
  }
}

function event(seq: number, sessionId: string): AgentEvent {
  return { type: "warning.raised", seq, at: new Date().toISOString(), sessionId, message: name };
}
