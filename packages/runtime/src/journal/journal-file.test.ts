import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { AgentEvent } from "../protocol/events.ts";
import { createFileStore } from "./file-store.ts";
import { type FileOperations, type SyncPolicy, systemFiles } from "./journal-file.ts";
import { sealLines } from "./seal-lines.ts";

const root = mkdtempSync(join(tmpdir(), "outrider-journal-"));
after(() => rmSync(root, { recursive: true, force: true }));

describe("appending to a log", () => {
  it("leaves no torn line when the disk fills up at any byte, and goes on when there is room again", async () => {
    const line = sealLines([JSON.stringify(warning(2))], 0).bytes.length;
    for (let room = 0; room < line; room += 7) {
      const disk = openDisk();
      const { folder, store } = storeOn(disk, "never");
      const writer = await store.open("s1");
      await writer.append([warning(1)]);
      disk.room = room;
      await assert.rejects(writer.append([warning(2)]), { code: "storage-failed", message: /ENOSPC/, hint: /space/ });
      disk.room = Number.POSITIVE_INFINITY;
      await writer.append([warning(3)]);
      await writer.close();
      assert.deepEqual(await store.read("s1"), [warning(1), warning(3)]);
      assert.equal(readFileSync(join(folder, "s1.jsonl"), "utf8").split("\n").length, 3);
    }
  });

  it("takes no more events when a torn line cannot be cut off, and the next to open drops it", async () => {
    const disk = openDisk();
    const { store } = storeOn(disk, "never");
    const writer = await store.open("s1");
    await writer.append([warning(1)]);
    disk.room = 20;
    disk.canTruncate = false;
    await assert.rejects(writer.append([warning(2)]), { code: "storage-failed" });
    disk.room = Number.POSITIVE_INFINITY;
    await assert.rejects(writer.append([warning(3)]), { code: "storage-failed" });
    await writer.close();
    const again = await store.open("s1");
    assert.deepEqual([...again.events], [warning(1)]);
    assert.deepEqual(again.warnings, ["Dropped 20 bytes at the end of the journal: a write that was cut off"]);
    await again.close();
  });

  it("takes no more events once the disk could not keep one", async () => {
    const disk = openDisk();
    const { store } = storeOn(disk, "always");
    const writer = await store.open("s1");
    await writer.append([warning(1)]);
    disk.syncError = "EIO";
    const attempts = await Promise.allSettled([writer.append([warning(2)]), writer.append([warning(3)])]);
    assert.deepEqual(
      attempts.map((attempt) => attempt.status === "rejected" && attempt.reason.code),
      ["storage-failed", "storage-failed"],
    );
    disk.syncError = undefined;
    await assert.rejects(writer.append([warning(4)]), { code: "storage-failed" });
    await writer.close();
  });

  it("takes nothing that waited behind what the disk could not keep", async () => {
    const disk = openDisk();
    const { folder, store } = storeOn(disk, "always");
    const writer = await store.open("s1");
    await writer.append([warning(1)]);
    disk.syncError = "EIO";
    const { sync } = disk;
    disk.sync = async (file) => {
      await new Promise((resolve) => setImmediate(resolve));
      await sync(file).finally(() => {
        disk.syncError = undefined;
      });
    };
    const settled = (seq: number): Promise<unknown> =>
      writer.append([warning(seq)]).then(
        () => "kept",
        () => "refused",
      );
    const first = settled(2);
    await Promise.resolve(); // the first is being written
    assert.deepEqual(await Promise.all([first, settled(3)]), ["refused", "refused"]);
    await writer.close().catch(() => {});
    assert.ok(!readFileSync(join(folder, "s1.jsonl"), "utf8").includes(`"seq":3`));
  });

  it("says at its end that the disk could not keep what was taken, unless somebody was told", async () => {
    const disk = openDisk();
    const { store } = storeOn(disk, "batch");
    const writer = await store.open("s1");
    await writer.append([warning(1)]);
    disk.syncError = "EIO";
    await assert.rejects(writer.close(), { code: "storage-failed", hint: /disk reports errors/ });
    disk.syncError = undefined;
    await (await store.open("s1")).close(); // its lock is free all the same
  });

  it("is closed once: closing again does nothing, and nothing can be written after it", async () => {
    const { store } = storeOn(openDisk(), "batch");
    const writer = await store.open("s1");
    await writer.append([warning(1)]);
    await writer.close();
    await writer.close();
    await assert.rejects(writer.append([warning(2)]), { code: "closed" });
    assert.deepEqual(await store.read("s1"), [warning(1)]);
  });

  it("shares one sync among those who wait together", async () => {
    const disk = openDisk();
    const { store } = storeOn(disk, "always");
    const writer = await store.open("s1");
    await Promise.all(Array.from({ length: 50 }, (_, index) => writer.append([warning(index + 1)])));
    assert.ok(disk.syncs <= 3, `${disk.syncs} syncs`);
    await writer.close();
    assert.equal((await store.read("s1")).length, 50);
  });

  it("syncs before it answers, at the end of turns and of the log, or not at all, as it was told", async () => {
    const syncs = async (policy: SyncPolicy): Promise<number[]> => {
      const disk = openDisk();
      const { store } = storeOn(disk, policy);
      const writer = await store.open("s1");
      const counts: number[] = [];
      for (const event of [warning(1), turnEnded(2), warning(3)]) {
        await writer.append([event]);
        counts.push(disk.syncs);
      }
      await writer.close();
      return [...counts, disk.syncs];
    };
    assert.deepEqual(
      [await syncs("always"), await syncs("batch"), await syncs("never")],
      [
        [1, 2, 3, 3],
        [0, 1, 1, 2],
        [0, 0, 0, 0],
      ],
    );
  });

  it("syncs a copy that is opened next with what is written to it, and any other at once", async () => {
    const disk = openDisk();
    const { store } = storeOn(disk, "batch");
    const writer = await store.open("s1");
    await writer.append([warning(1)]);
    await writer.close();
    const counts = [disk.syncs];
    await store.fork("s1", "s2");
    counts.push(disk.syncs);
    await store.fork("s1", "s3", { isOpenedNext: true });
    counts.push(disk.syncs);
    const copy = await store.open("s3");
    await copy.append([turnEnded(2)]);
    counts.push(disk.syncs);
    await copy.close();
    await store.fork("s1", "s4", { isOpenedNext: true });
    await (await store.open("s4")).close(); // nothing was written to it
    counts.push(disk.syncs);
    assert.deepEqual(counts, [1, 2, 2, 3, 4]);
    disk.syncError = "EIO";
    await store.fork("s1", "s5", { isOpenedNext: true });
    await assert.rejects((await store.open("s5")).append([turnEnded(2)]), { code: "storage-failed" });
  });

  it("syncs one after the other, and is closed after the last of them", async () => {
    const disk = openDisk();
    const { store } = storeOn(disk, "batch");
    const writer = await store.open("s1");
    const marks: string[] = [];
    const { sync } = disk;
    disk.sync = async (file) => {
      marks.push("begins");
      await new Promise((resolve) => setImmediate(resolve));
      await sync(file);
      marks.push("ends");
    };
    await Promise.all([
      writer.append([turnEnded(1)]),
      writer.append([warning(2)]),
      writer.append([turnEnded(3)]),
      writer.close(),
    ]);
    assert.deepEqual(marks.join(" ").replaceAll("begins ends", "").trim(), "");
  });

  it("syncs for an end among other events", async () => {
    const disk = openDisk();
    const { store } = storeOn(disk, "batch");
    const writer = await store.open("s1");
    await writer.append([warning(1), turnEnded(2), warning(3)]);
    assert.equal(disk.syncs, 1);
    await writer.close();
  });

  it("ends the last line of a log before it writes on, and goes back to there when the disk is full", async () => {
    const disk = openDisk();
    const { folder, store } = storeOn(disk, "never");
    const first = await store.open("s1");
    await first.append([warning(1)]);
    await first.close();
    const path = join(folder, "s1.jsonl");
    truncateSync(path, statSync(path).size - 1);
    const writer = await store.open("s1");
    disk.room = 10;
    await assert.rejects(writer.append([warning(2)]), { code: "storage-failed" });
    disk.room = Number.POSITIVE_INFINITY;
    await writer.append([warning(2)]);
    await writer.close();
    assert.deepEqual(await store.read("s1"), [warning(1), warning(2)]);
    assert.deepEqual(
      readFileSync(path),
      sealLines(
        [warning(1), warning(2)].map((event) => JSON.stringify(event)),
        0,
      ).bytes,
    );
  });

  it("syncs by itself soon after an append", async () => {
    const disk = openDisk();
    const { store } = storeOn(disk, "batch");
    const writer = await store.open("s1");
    const synced = new Promise<void>((resolve) => {
      disk.onSync = resolve;
    });
    await writer.append([warning(1)]);
    const keepAlive = setInterval(() => {}, 1000);
    await synced;
    clearInterval(keepAlive);
    await writer.close();
    assert.equal(disk.syncs, 1);
  });

  it("says that a long text could not be kept, and leaves the log whole", async () => {
    const { folder, store } = storeOn(openDisk(), "batch");
    const writer = await store.open("s1");
    await writer.append([warning(1)]);
    writeFileSync(join(folder, "blobs"), "a file in the way");
    await assert.rejects(writer.append([{ ...warning(2), message: "x".repeat(100_000) }]), { code: "storage-failed" });
    rmSync(join(folder, "blobs"));
    await writer.append([{ ...warning(2), message: "x".repeat(100_000) }]);
    await writer.close();
    assert.equal((await store.read("s1")).length, 2);
    assert.deepEqual(readdirSync(folder).sort(), ["blobs", "s1.jsonl"]);
  });

  it("writes nothing once another process has taken the session over", async (test) => {
    test.mock.timers.enable({ apis: ["Date"], now: Date.now() });
    const { folder, store } = storeOn(openDisk(), "never");
    const writer = await store.open("s1");
    await writer.append([warning(1)]);
    const lock = readdirSync(folder).find((name) => name.includes("lock")) ?? "";
    writeFileSync(
      join(folder, lock),
      JSON.stringify({ ...JSON.parse(readFileSync(join(folder, lock), "utf8")), token: "other" }),
    );
    test.mock.timers.tick(11_000); // longer than a writer believes in its lock without looking
    await assert.rejects(writer.append([warning(2)]), { code: "session-locked" });
    await writer.close();
    assert.deepEqual(await store.read("s1"), [warning(1)]);
    assert.ok(readdirSync(folder).includes(lock), "the other one's lock stays");
  });

  it("finds a log that was changed behind its back at the next opening", async () => {
    const { folder, store } = storeOn(openDisk(), "never");
    const writer = await store.open("s1");
    await writer.append([warning(1), warning(2)]);
    truncateSync(join(folder, "s1.jsonl"), 50);
    await writer.append([warning(3)]);
    await writer.close();
    const again = await store.open("s1");
    assert.deepEqual([again.events.length, again.warnings.length], [0, 1]);
    await again.close();
  });
});

type Disk = FileOperations & {
  room: number;
  canTruncate: boolean;
  syncError: string | undefined;
  syncs: number;
  onSync: () => void;
};

/** A real file on a disk that can be filled up and broken. */
function openDisk(): Disk {
  const disk: Disk = {
    room: Number.POSITIVE_INFINITY,
    canTruncate: true,
    syncError: undefined,
    syncs: 0,
    onSync: () => {},
    write(file, bytes) {
      if (disk.room === 0) throw failure("ENOSPC");
      const written = systemFiles.write(file, bytes.subarray(0, disk.room));
      disk.room -= written;
      return written;
    },
    truncate(file, length) {
      if (!disk.canTruncate) throw failure("EIO");
      systemFiles.truncate(file, length);
    },
    async sync(file) {
      disk.syncs++;
      if (disk.syncError) throw failure(disk.syncError);
      await systemFiles.sync(file);
      disk.onSync();
    },
  };
  return disk;
}

function storeOn(operations: FileOperations, sync: SyncPolicy): { folder: string; store: ReturnType<typeof createFileStore> } {
  const folder = mkdtempSync(join(root, "s-"));
  return { folder, store: createFileStore(folder, { sync, operations }) };
}

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: made up, write`), { code });
}

function warning(seq: number): AgentEvent & { type: "warning.raised" } {
  return { type: "warning.raised", seq, at: "2026-01-01T00:00:00.000Z", sessionId: "s1", message: `event ${seq}` };
}

function turnEnded(seq: number): AgentEvent {
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  return {
    type: "turn.ended",
    seq,
    at: "",
    sessionId: "s1",
    outcome: { type: "completed", text: "" },
    usage,
    modelCalls: 1,
    durationMs: 1,
    modelDurationMs: 1,
  };
}
