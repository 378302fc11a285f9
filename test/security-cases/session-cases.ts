import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { createFileStore } from "../../packages/runtime/src/journal/file-store.ts";
import { toMessages } from "../../packages/runtime/src/journal/transcript.ts";
import { createScriptedProvider } from "../../packages/runtime/src/model/scripted.ts";
import { callsOf, noUsage } from "../../packages/runtime/src/protocol/content.ts";
import type { AgentEvent } from "../../packages/runtime/src/protocol/events.ts";
import { InteractiveSession } from "../../packages/runtime/src/session/interactive-session.ts";
import { type CaseTable, folderFor } from "./case-table.ts";
import { runScripted } from "./scripted-run.ts";

const warn = (sessionId: string, seq: number, message = `number ${seq}`): AgentEvent => ({
  type: "warning.raised",
  seq,
  at: new Date(0).toISOString(),
  sessionId,
  message,
});

export const sessionCases: CaseTable = {
  async SE002(_one, test) {
    const folder = folderFor(test);
    const store = createFileStore(folder);
    const writer = await store.open("s");
    for (const seq of [1, 2, 3]) await writer.append([warn("s", seq)]);
    await writer.close();
    const path = join(folder, "s.jsonl");
    const [first, second, ...rest] = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, [first, "\0{garbage", second, ...rest].join("\n"));
    const again = await store.open("s");
    test.after(() => again.close());
    const numbers = [...again.events].map(({ seq }) => seq);
    assert.deepEqual(
      numbers,
      [...numbers].sort((a, b) => a - b),
    );
    assert.equal(numbers[0], 1);
    assert.ok(again.warnings.length > 0, "it is said");
    await again.append([warn("s", (numbers.at(-1) ?? 0) + 1, "goes on")]);
  },

  async SE005(_one, test) {
    const store = createFileStore(folderFor(test));
    const writer = await store.open("s");
    test.after(() => writer.close());
    await assert.rejects(createFileStore(join(writer.location ?? "", "..")).open("s"), { code: "session-locked" });
  },

  async SE006(_one, test) {
    const folder = folderFor(test);
    const store = createFileStore(folder);
    await (await store.open("s")).close();
    const lockPath = join(folder, "s.jsonl.lock");
    // A process that is gone; and one of that number which is another process.
    for (const pid of [2 ** 22 + 1, 1]) {
      writeFileSync(lockPath, JSON.stringify({ pid, host: hostname(), startedAt: "1", bootId: "another" }));
      const writer = await store.open("s");
      await writer.close();
      assert.equal(existsSync(lockPath), false);
    }
  },

  async SE009(_one, test) {
    for (const id of ["../../etc/x", "x".repeat(10_000), "", "a/b", "..", "a b"]) {
      const ran = await runScripted(test, { args: ["--resume", id] });
      // Wrong usage, or the name of a session that does not exist; never a path.
      assert.ok(ran.code === 64 || ran.code === 66, `${JSON.stringify(id.slice(0, 20))}: ${ran.code} ${ran.stderr}`);
      assert.deepEqual(ran.requests, []);
    }
    const store = createFileStore(folderFor(test));
    for (const id of ["a\0b", "..", "a/../../b"]) await assert.rejects(store.open(id), { code: "usage" });
  },

  SE010() {
    const at = new Date(0).toISOString();
    const model = { provider: "p", id: "m" };
    const call = { type: "tool-call" as const, callId: "c1", name: "Bash", input: { command: "x" } };
    const message = { role: "assistant" as const, content: [call], model, finish: "tool-calls" as const, usage: noUsage };
    const events: AgentEvent[] = [
      { type: "turn.started", seq: 1, at, sessionId: "s", input: { role: "user", content: [{ type: "text", text: "go" }] } },
      { type: "message.ended", seq: 2, at, sessionId: "s", messageId: "m1", message, durationMs: 1, requestedModel: "m" },
    ];
    const last = toMessages(events).at(-1);
    assert.equal(last?.role, "tool");
    assert.deepEqual(
      last?.role === "tool" && last.content.map(({ callId, isError }) => [callId, isError]),
      callsOf(message).map(({ callId }) => [callId, true]),
    );
  },

  async SE011(_one, test) {
    const folder = folderFor(test);
    const at = new Date(0).toISOString();
    const store = createFileStore(folder, { sync: "never" });
    const writer = await store.open("s");
    const text = "word ".repeat(480);
    for (let seq = 1; seq <= 5_000; seq += 50)
      await writer.append(Array.from({ length: 50 }, (_, index) => ({ ...warn("s", seq + index, text), at })));
    await writer.close();
    assert.ok(readFileSync(join(folder, "s.jsonl")).length > 12_000_000);
    const startedAt = performance.now();
    const again = await store.open("s");
    const spent = performance.now() - startedAt;
    test.after(() => again.close());
    assert.equal(again.events.length, 5_000);
    assert.ok(spent < 5_000, `${spent} ms`); // 0.1 s on an idle machine; the bound is for busy ones
  },

  async SE013(_one, test) {
    const folder = folderFor(test);
    const store = createFileStore(folder);
    const provider = createScriptedProvider([{ text: "one", usage: { inputTokens: 7, outputTokens: 1 } }]);
    const session = new InteractiveSession({ cwd: folder, provider, sessionStore: store, sessionId: "parent" });
    test.after(() => session.shutdown());
    await session.submit("hello");
    const path = join(folder, "parent.jsonl");
    const before = readFileSync(path, "utf8");
    await store.fork("parent", "child");
    assert.equal(readFileSync(path, "utf8"), before, "not a byte of the parent changed");
    const child = await store.read("child");
    assert.equal(child.filter((event) => event.type === "message.ended").length, 1);
    const origin = child.find((event) => event.type === "session.started");
    assert.match(JSON.stringify(origin), /"forkedFrom":\{"sessionId":"parent","seq":\d+\}/);
  },
};
