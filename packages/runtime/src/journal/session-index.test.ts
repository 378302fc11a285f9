import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { userText } from "../protocol/content.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { createFileStore } from "./file-store.ts";
import { sealLines } from "./seal-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-index-"));
after(() => rmSync(folder, { recursive: true, force: true }));

describe("summaries of sessions", () => {
  it("leave out a log of a newer format, say so, and tell of the others, again and again", async () => {
    writeFileSync(join(folder, "newer.jsonl"), sealLines([started("newer", 99)], 0).bytes);
    writeFileSync(join(folder, "known.jsonl"), sealLines([started("known", 2)], 0).bytes);
    const store = createFileStore(folder);
    for (const _ of ["from the logs", "from the index"]) {
      const skipped: string[] = [];
      const summaries = await store.summaries({ onSkipped: (id, { code, message }) => skipped.push(id, code, message) });
      assert.deepEqual(
        [summaries.map(({ id }) => id), skipped],
        [["known"], ["newer", "storage-failed", "The journal of newer has format 99; this version knows formats up to 3"]],
      );
    }
    assert.deepEqual((await store.summaries()).length, 1);
  });

  it("begin with the first prompt, also with one that is kept beside the log", async () => {
    const place = mkdtempSync(join(folder, "long-"));
    const store = createFileStore(place);
    const writer = await store.open("s1");
    const turn = (seq: number, text: string): AgentEvent => ({
      type: "turn.started",
      seq,
      at: "2026-01-01T00:00:00.000Z",
      sessionId: "s1",
      input: userText(text),
    });
    await writer.append([JSON.parse(started("s1", 2)), turn(2, `first ${"x".repeat(100_000)}`), turn(3, "second")]);
    await writer.close();
    for (const _ of ["from the log", "from the index"]) assert.match((await store.summaries())[0]?.prompt ?? "", /^first xxx/);
  });

  it("say of a log without one readable line that it is damaged", async () => {
    const place = mkdtempSync(join(folder, "damaged-"));
    writeFileSync(join(place, "s1.jsonl"), "no journal\n");
    const skipped: string[] = [];
    const summaries = await createFileStore(place).summaries({ onSkipped: (id, { message }) => skipped.push(id, message) });
    assert.deepEqual([summaries, skipped], [[], ["s1", "The journal of s1 holds nothing that can be read"]]);
  });
});

function started(sessionId: string, journalVersion: number): string {
  return JSON.stringify({
    type: "session.started",
    seq: 1,
    at: "2026-01-01T00:00:00.000Z",
    sessionId,
    journalVersion,
    cwd: "/x",
  });
}
