import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { AgentEvent } from "../protocol/events.ts";
import { createFileStore } from "./file-store.ts";
import type { SessionStore } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-fork-lines-"));
after(() => rmSync(folder, { recursive: true, force: true }));
/** Each knows nothing of what the others have read. */
const fresh = (): SessionStore => createFileStore(folder, { sync: "never" });

const at = "2026-01-01T00:00:00.000Z";
const call = { callId: 'c-\u00e4"1', name: "Bash" };
const envelope = (seq: number): object => ({ seq, at, sessionId: "s1" });
const events = [
  { ...envelope(1), type: "session.started", cwd: "/w", journalVersion: 2, resumed: false, system: "s", toolDefinitions: [] },
  {
    ...envelope(2),
    turnId: "t",
    type: "turn.started",
    input: { role: "user", content: [{ type: "text", text: '","sessionId":"x"' }] },
  },
  { ...envelope(3), turnId: "t", type: "tool.started", ...call, input: { sessionId: "s1", type: "turn.started" } },
  {
    ...envelope(4),
    turnId: "t",
    type: "tool.ended",
    ...call,
    status: "ok",
    result: { type: "tool-result", ...call, content: [], isError: false },
  },
  { type: "session.named", ...envelope(5), name: "\u00fc \ud83d\ude00 name" }, // another order than ours
  { ...envelope(6), turnId: "t", taskId: "k", type: "warning.raised", message: "m" },
] as AgentEvent[];

describe("the lines of a fork", () => {
  it("are those of the source under the new id, in this process and in any other", async () => {
    await write("s1");
    for (const [id, last] of [
      ["a-much-longer-id-than-the-other", 6],
      ["b", 3],
    ] as const) {
      const store = fresh();
      await store.fork("s1", id, { at: last });
      const origin = { sessionId: "s1", seq: last };
      const expected = events
        .slice(0, last)
        .map((event, index) => ({ ...event, sessionId: id, ...(index === 0 && { forkedFrom: origin }) }));
      assert.deepEqual([await store.read(id), await fresh().read(id)], [expected, expected]);
      const conversation = last === 6 ? [2, 4] : [2, 3];
      for (const opener of [store, fresh()]) {
        const journal = await opener.open(id);
        await journal.close();
        assert.deepEqual(journal.warnings, []);
        assert.deepEqual(
          [...journal.events.conversation()].map(({ seq }) => seq),
          conversation,
        );
      }
    }
  });

  it("may be as long as what is written at once, and a little longer", async () => {
    const id = "a-much-longer-id-than-the-other";
    for (const spare of [0, 20, 40, 60, 80]) {
      const journal = await fresh().open(`long-${spare}`);
      const [start] = events;
      const long = (seq: number, length: number): object => ({
        ...envelope(seq),
        type: "warning.raised",
        message: "x".repeat(length),
      });
      const own = [start, long(2, 1_000), long(3, 2 ** 19), long(4, 2 ** 19 - 1_800 + spare), long(5, 9)];
      await journal.append(own.map((event) => ({ ...event, sessionId: `long-${spare}` }) as AgentEvent));
      await journal.close();
      await fresh().fork(`long-${spare}`, `${id}-${spare}`);
      assert.equal((await fresh().read(`${id}-${spare}`)).length, 5);
    }
  });

  it("are gone on with after the last of them", async () => {
    await write("s2");
    const store = fresh();
    await store.fork("s2", "c");
    const journal = await store.open("c");
    const added = { ...envelope(7), sessionId: "c", type: "warning.raised", message: "later" } as AgentEvent;
    await journal.append([added]);
    await journal.close();
    assert.deepEqual((await fresh().read("c")).at(-1), added);
    const { warnings } = await fresh().open("c");
    assert.deepEqual(warnings, []);
  });
});

describe("a log that was read before", () => {
  it("is read anew when it has changed: longer, shorter, damaged or another one", async () => {
    await write("s3");
    const store = fresh();
    const path = join(folder, "s3.jsonl");
    const whole = readFileSync(path);
    const count = async (): Promise<number> => (await store.read("s3")).length;
    assert.equal(await count(), 6);
    appendFileSync(path, "torn");
    assert.equal(await count(), 6);
    truncateSync(path, whole.indexOf(10) + 1);
    assert.equal(await count(), 1);
    writeFileSync(path, whole);
    assert.equal(await count(), 6);
    const damaged = Buffer.from(whole);
    damaged[whole.indexOf(10) + 30] = 0x58; // in place, and as long as before
    writeFileSync(path, damaged);
    assert.equal(await count(), 1);
  });
});

async function write(sessionId: string): Promise<void> {
  const journal = await fresh().open(sessionId);
  await journal.append(events.map((event) => ({ ...event, sessionId }) as AgentEvent));
  await journal.close();
}
