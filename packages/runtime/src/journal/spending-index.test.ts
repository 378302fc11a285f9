import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { usage } from "../../../../test/support/sample-events.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { createFileStore } from "./file-store.ts";
import { listSpending } from "./spending-index.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-spending-"));
after(() => rmSync(folder, { recursive: true, force: true }));

it("a model is paid for each answer once: by the session that asked, not by a fork that has copied it", async () => {
  const store = createFileStore(folder, { sync: "never" });
  const at = "2026-01-02T03:04:05.000Z";
  const asked = (type: "message.ended" | "side-call.ended", seq: number, tokens = 100): object => ({
    ...{ seq, at, type, messageId: `m${seq}`, durationMs: 1, requestedModel: "usual" },
    message: {
      ...{ role: "assistant", content: [], finish: "stop", model: { provider: "p", id: `served-${seq}` } },
      usage: { ...usage, inputTokens: tokens, outputTokens: 0 },
    },
  });
  const write = async (sessionId: string, events: readonly object[]): Promise<void> => {
    const journal = await store.open(sessionId);
    await journal.append(events.map((event) => ({ ...event, sessionId }) as AgentEvent));
    await journal.close();
  };
  const start = {
    seq: 1,
    at,
    type: "session.started",
    cwd: "/w",
    journalVersion: 2,
    resumed: false,
    system: "",
    toolDefinitions: [],
  };
  await write("one", [start, asked("message.ended", 2), asked("message.ended", 3, 0), asked("side-call.ended", 4)]);
  await store.fork("one", "two");
  await write("two", [asked("message.ended", 5)]);
  writeFileSync(join(folder, "empty.jsonl"), "no event of ours\n");
  const spent = (await listSpending(folder)).map(({ id, cwd, calls }) => [id, cwd, calls.map(({ message }) => message.model.id)]);
  assert.deepEqual(spent.toSorted(), [
    ["one", "/w", ["served-2", "served-4"]],
    ["two", "/w", ["served-5"]],
  ]);
});
