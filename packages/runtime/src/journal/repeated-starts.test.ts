import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { AgentEvent } from "../protocol/events.ts";
import { createFileStore } from "./file-store.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-starts-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const store = createFileStore(folder, { sync: "never" });

describe("a start that repeats an earlier one", () => {
  it("is stored as what differs, and read as it was", async () => {
    const tools = [{ name: "T", description: "word ".repeat(1_000), inputSchema: { type: "object" } }];
    const starts = [
      start(1, { resumed: false }),
      start(2),
      start(3, { toolDefinitions: tools }),
      start(4, { toolDefinitions: tools }),
      start(5, { toolDefinitions: tools, settingSources: undefined }),
      start(6),
      start(7, { cwd: "/elsewhere" }),
    ];
    const added: number[] = [];
    for (const event of starts) added.push(await append("s1", event));
    assert.ok((added[0] ?? 0) > 10_000 && (added[2] ?? 0) > 5_000, "whole, and with what differs");
    for (const index of [1, 3, 4, 6]) assert.ok((added[index] ?? 0) < 300, `start ${index + 1} takes ${added[index]} bytes`);
    assert.deepEqual(await store.read("s1"), starts.map(plain));
    assert.deepEqual(await store.read("s1", { after: 4 }), starts.slice(4).map(plain));
    const journal = await store.open("s1");
    await journal.close();
    assert.deepEqual(journal.events.last("session.started"), plain(starts[6]));
  });

  it("is read in a fork too, where only the first says where it comes from", async () => {
    for (const event of [start(1, { resumed: false }), start(2), start(3)]) await append("a", event);
    await store.fork("a", "b", { at: 2 });
    await append("b", { ...start(4), sessionId: "b" });
    const origin = { forkedFrom: { sessionId: "a", seq: 2 } };
    const expected = [{ ...start(1, { resumed: false }), ...origin }, start(2), start(4)].map((event) => ({
      ...event,
      sessionId: "b",
    }));
    assert.deepEqual(await store.read("b"), expected.map(plain));
    const [summary] = (await store.summaries()).filter(({ id }) => id === "b");
    assert.deepEqual([summary?.cwd, summary?.forkedFrom], ["/work", { sessionId: "a", seq: 2 }]);
  });

  it("does not grow with how often a session is resumed", async () => {
    await append("c", start(1, { resumed: false }));
    for (let seq = 2; seq < 50; seq++) await append("c", start(seq));
    const lines = readFileSync(join(folder, "c.jsonl"), "utf8").trimEnd().split("\n").slice(1);
    assert.ok(
      lines.every((line) => JSON.parse(line).like === 1),
      "all are like the first",
    );
    assert.equal((await store.read("c")).length, 49);
  });
});

/** Answers how many bytes the log has grown by. */
async function append(sessionId: string, event: AgentEvent): Promise<number> {
  const path = join(folder, `${sessionId}.jsonl`);
  const before = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const journal = await store.open(sessionId);
  await journal.append([{ ...event, sessionId }]);
  await journal.close();
  return statSync(path).size - before;
}

function start(seq: number, more: Partial<AgentEvent<"session.started">> | { settingSources: undefined } = {}): AgentEvent {
  const facts = {
    cwd: "/work",
    model: { provider: "p", id: "m" },
    tools: ["T"],
    permissionMode: "default",
    version: "1",
    settingSources: ["user"],
  };
  const said = { journalVersion: 2, resumed: true, system: `${"word ".repeat(2_000)}`, toolDefinitions: [] };
  const at = "2026-01-01T00:00:00.000Z";
  return { seq, at, sessionId: "s1", type: "session.started", ...facts, ...said, ...more } as AgentEvent;
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
