import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { AgentEvent } from "../protocol/events.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { createFileStore } from "./file-store.ts";
import { takeLock } from "./lock.ts";
import { openDoor } from "./lock-door.ts";

const root = mkdtempSync(join(tmpdir(), "outrider-garbage-"));
after(() => rmSync(root, { recursive: true, force: true }));
const hour = 3_600_000;

describe("collecting side files", () => {
  it("removes what no session names any more, and what killed processes left half-written", async () => {
    const { folder, store } = await filled({ s1: "a", s2: "b" });
    writeFileSync(join(folder, "index.json.x.tmp"), "half");
    writeFileSync(join(folder, "gone.lines"), "12");
    writeFileSync(join(folder, "s1.lines"), "12");
    await store.fork("s1", "s3");
    age(folder);
    assert.deepEqual(await collectGarbage(folder), { removed: 2, bytes: 6, kept: 2 });
    assert.ok(existsSync(join(folder, "s1.lines")), "its log is there");
    await store.remove("s2");
    assert.deepEqual(await collectGarbage(folder), { removed: 1, bytes: 70_000, kept: 1 });
    await store.remove("s1");
    assert.deepEqual(await collectGarbage(folder), { removed: 0, bytes: 0, kept: 1 }); // the fork still has it
    assert.equal(textIn(await store.read("s3")), "a".repeat(70_000));
  });

  it("keeps what a damaged end that was put aside names", async () => {
    const { folder, store } = await filled({ s1: "a" });
    renameSync(join(folder, "s1.jsonl"), join(folder, "s1.jsonl.damaged-2026-01-01T00-00-00.000Z"));
    age(folder);
    assert.deepEqual([await store.list(), await collectGarbage(folder)], [[], { removed: 0, bytes: 0, kept: 1 }]);
  });

  it("keeps what was touched within the last hour: a session may be about to name it", async () => {
    const { folder, store } = await filled({ s1: "a" });
    await store.remove("s1");
    assert.equal((await collectGarbage(folder)).removed, 0);
    assert.equal((await collectGarbage(folder, { now: () => Date.now() + 2 * hour })).removed, 1);
  });

  it("keeps an old file that a session has just begun to use again", async () => {
    const { folder, store } = await filled({ s1: "a" });
    await store.remove("s1");
    age(folder);
    const other = createFileStore(folder);
    const writer = await other.open("s2");
    await writer.append([event("s2", "a")]);
    const log = join(folder, "s2.jsonl");
    renameSync(log, join(folder, "s2.hidden")); // as if the line were not written yet
    assert.equal((await collectGarbage(folder)).removed, 0);
    renameSync(join(folder, "s2.hidden"), log);
    await writer.close();
    assert.equal(textIn(await other.read("s2")), "a".repeat(70_000));
  });

  it("puts back what a killed collector had moved aside", async () => {
    const { folder, store } = await filled({ s1: "a" });
    const [file = ""] = filesIn(folder);
    renameSync(file, `${file}.unused`);
    await collectGarbage(folder);
    assert.equal(textIn(await store.read("s1")), "a".repeat(70_000));
  });

  it("only counts when told to, also what nobody names any more once some sessions are gone", async () => {
    const { folder, store } = await filled({ s1: "a", s2: "b", s3: "c" });
    await store.remove("s3");
    const damaged = "s2.jsonl.damaged-2026-01-01T00-00-00.000Z";
    renameSync(join(folder, "s2.jsonl"), join(folder, damaged));
    writeFileSync(join(folder, "index.json.x.tmp"), "half");
    age(folder);
    const [aside = ""] = filesIn(folder);
    renameSync(aside, `${aside}.unused`);
    const there = (): string[] => readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
    const before = there();
    const counted = [
      (await collectGarbage(folder, { dryRun: true })).removed,
      (await collectGarbage(folder, { dryRun: true, except: ["s1"] })).removed,
      (await collectGarbage(folder, { dryRun: true, except: [damaged] })).removed,
      await collectGarbage(folder, { dryRun: true, except: ["s1", "s2"] }),
    ];
    assert.deepEqual([counted, there()], [[2, 3, 3, { removed: 4, bytes: 210_004, kept: 0 }], before]);
    renameSync(`${aside}.unused`, aside);
    await store.remove("s1");
    rmSync(join(folder, damaged));
    assert.deepEqual(await collectGarbage(folder), { removed: 4, bytes: 210_004, kept: 0 });
  });

  it("has nothing to do in a folder that is not there", async () => {
    assert.deepEqual(await collectGarbage(join(root, "nowhere")), { removed: 0, bytes: 0, kept: 0 });
    assert.equal(existsSync(join(root, "nowhere")), false);
  });
});

async function filled(texts: Record<string, string>): Promise<{ folder: string; store: ReturnType<typeof createFileStore> }> {
  const folder = mkdtempSync(join(root, "g-"));
  const store = createFileStore(folder);
  for (const [id, letter] of Object.entries(texts)) {
    const writer = await store.open(id);
    await writer.append([event(id, letter)]);
    await writer.close();
  }
  return { folder, store };
}

function event(sessionId: string, text: string): AgentEvent {
  return { type: "warning.raised", seq: 1, at: "2026-01-01T00:00:00.000Z", sessionId, message: text.repeat(70_000) };
}

function textIn([first]: readonly AgentEvent[]): string | undefined {
  return first?.type === "warning.raised" ? first.message : undefined;
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(join(folder, "blobs"), { recursive: true, encoding: "utf8" });
  return entries.filter((name) => name.length > 10).map((name) => join(folder, "blobs", name));
}

function age(folder: string): void {
  const past = new Date(Date.now() - 2 * hour);
  for (const path of [...filesIn(folder), ...readdirSync(folder).map((name) => join(folder, name))]) utimesSync(path, past, past);
}

describe("what killed writers left", () => {
  const folder = mkdtempSync(join(tmpdir(), "outrider-left-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const aged = (name: string, content = ""): void => {
    writeFileSync(join(folder, name), content);
    utimesSync(join(folder, name), 1000, 1000);
  };

  it("goes: logs without an event and doors without an owner, and nothing that is young, held or answered", async () => {
    aged("empty.jsonl");
    aged("held.jsonl");
    aged("whole.jsonl", "x");
    writeFileSync(join(folder, "young.jsonl"), "");
    const lock = await takeLock(join(folder, "held.jsonl.lock"), "held", { space: "pid:[4026531836]" });
    const door = await openDoor(join(folder, ".01234567.door"));
    const script = `process.chdir(${JSON.stringify(folder)}); require("node:net").createServer().listen(".89abcdef.door", () => process.kill(process.pid, "SIGKILL"))`;
    spawnSync(process.execPath, ["-e", script]);
    aged("notes.door");
    const before = readdirSync(folder).sort();
    assert.equal((await collectGarbage(folder, { dryRun: true })).removed, 2);
    assert.deepEqual(readdirSync(folder).sort(), before);
    assert.equal((await collectGarbage(folder)).removed, 2);
    assert.deepEqual(
      readdirSync(folder).sort(),
      before.filter((name) => name !== "empty.jsonl" && name !== ".89abcdef.door"),
    );
    lock.release();
    door?.close();
  });
});
