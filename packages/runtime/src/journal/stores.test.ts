import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { AgentEvent } from "../protocol/events.ts";
import { sessionStoreConformance } from "../testing/store-conformance.ts";
import { createFileStore } from "./file-store.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { SessionStore } from "./store.ts";

const root = mkdtempSync(join(tmpdir(), "outrider-stores-"));
after(() => rmSync(root, { recursive: true, force: true }));
const freshFolder = (): string => mkdtempSync(join(root, "s-"));

const stores: [string, () => Promise<SessionStore>][] = [
  ["memory store", async () => createMemoryStore()],
  ["file store", async () => createFileStore(freshFolder())],
];

for (const [name, create] of stores) {
  describe(name, () => {
    for (const { name: fact, run } of sessionStoreConformance) it(fact, () => run(create));
  });
}

describe("file store on disk", () => {
  it("writes one JSON line per event, for the owner only", async () => {
    const folder = freshFolder();
    const writer = await createFileStore(folder).open("s1");
    await writer.append([warning(1), warning(2)]);
    const path = join(folder, "s1.jsonl");
    assert.deepEqual(
      readFileSync(path, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
      [warning(1), warning(2)],
    );
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(writer.location, path);
    await writer.close();
    assert.deepEqual(readdirSync(folder), ["s1.jsonl"]);
  });

  it("drops a torn last line at every byte with a warning, and goes on after the whole ones", async () => {
    const folder = freshFolder();
    const store = createFileStore(folder);
    const path = join(folder, "s1.jsonl");
    const whole = `${JSON.stringify(warning(1))}\n`;
    const torn = `${JSON.stringify(warning(2))}\n`;
    for (let cut = 1; cut < torn.length; cut++) {
      writeFileSync(path, whole + torn.slice(0, cut));
      const writer = await store.open("s1");
      assert.deepEqual(writer.events, [warning(1)]);
      assert.equal(writer.warnings.length, 1);
      await writer.append([warning(2)]);
      await writer.close();
      assert.equal(readFileSync(path, "utf8"), whole + torn);
    }
  });

  it("reads up to the first broken line", async () => {
    const folder = freshFolder();
    const store = createFileStore(folder);
    appendFileSync(join(folder, "s1.jsonl"), `${JSON.stringify(warning(1))}\nnot json\n${JSON.stringify(warning(3))}\n`);
    assert.deepEqual(await store.read("s1"), [warning(1)]);
  });

  it("refuses a second writer in another process, and takes over when that one is dead", async () => {
    const folder = freshFolder();
    const holder = spawn("sleep", ["60"]);
    try {
      const stat = readFileSync(`/proc/${holder.pid}/stat`, "utf8");
      const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
      const { hostname } = await import("node:os");
      const lock = { pid: holder.pid, host: hostname(), started, token: "other" };
      writeFileSync(join(folder, "s1.jsonl.lock"), JSON.stringify(lock));
      await assert.rejects(createFileStore(folder).open("s1"), (error: Error) => error.message.includes(`process ${holder.pid}`));
      writeFileSync(join(folder, "s1.jsonl.lock"), JSON.stringify({ ...lock, started: "1" })); // the id was used again by another process
      await (await createFileStore(folder).open("s1")).close();
    } finally {
      holder.kill("SIGKILL");
    }
    await new Promise((resolve) => holder.once("exit", resolve));
    writeFileSync(
      join(folder, "s1.jsonl.lock"),
      JSON.stringify({ pid: holder.pid, host: (await import("node:os")).hostname(), started: "", token: "dead" }),
    );
    await (await createFileStore(folder).open("s1")).close();
  });

  it("lets exactly one of many writers in, also over a stale lock", async () => {
    const folder = freshFolder();
    writeFileSync(
      join(folder, "s1.jsonl.lock"),
      JSON.stringify({ pid: 2 ** 22 + 1, host: (await import("node:os")).hostname(), started: "", token: "dead" }),
    );
    const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => createFileStore(folder).open("s1")));
    const winners = attempts.flatMap((attempt) => (attempt.status === "fulfilled" ? [attempt.value] : []));
    assert.equal(winners.length, 1);
    await winners[0]?.close();
  });

  it("names a folder it cannot write to", async () => {
    const file = join(freshFolder(), "file");
    writeFileSync(file, "");
    await assert.rejects(createFileStore(join(file, "sessions")).open("s1"), { code: "storage-failed" });
  });

  it("refuses ids that would leave its folder", async () => {
    for (const id of ["../x", "a/b", "", ".hidden", "a\0b"])
      await assert.rejects(createFileStore(freshFolder()).open(id), { code: "usage" });
  });
});

function warning(seq: number): AgentEvent {
  return { type: "warning.raised", seq, at: "2026-01-01T00:00:00.000Z", sessionId: "s1", message: `event ${seq}` };
}
