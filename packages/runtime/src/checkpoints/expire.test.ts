import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type CheckpointBench, createBench } from "../../../../test/support/checkpoint-bench.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { expireCheckpoints, expireWhenDue, sessionsWithCheckpoints } from "./expire.ts";

const day = 24 * 60 * 60 * 1000;
let bench: CheckpointBench;
let today = Date.UTC(2026, 5, 1);
const now = (): number => today;
beforeEach(() => {
  today = Date.UTC(2026, 5, 1);
  bench = createBench({ now });
});
afterEach(() => bench.remove());

async function turn(checkpoints: Checkpoints, name: string, content: string): Promise<void> {
  checkpoints.beginTurn({ turnId: `${name}-${content.slice(0, 3)}`, prompt: "go" });
  await checkpoints.protect(bench.path(name), content, async () => bench.userWrites(name, content));
  await checkpoints.endTurn();
}

const blobsOf = (session: string): string[] => readdirSync(join(bench.directory, session, "blobs"));

describe("old checkpoints", () => {
  it("go after their days, with the copies nothing else needs, and the rest still goes back", async () => {
    bench.userWrites("a.txt", "0");
    await turn(bench.checkpoints, "a.txt", "1");
    today += 20 * day;
    await turn(bench.checkpoints, "a.txt", "2");
    today += 15 * day;
    const result = await expireCheckpoints({ directory: bench.directory, keepDays: 30, now });
    assert.deepEqual(
      [
        result.removedCheckpoints,
        result.removedSessions,
        (await bench.checkpoints.list()).map(({ id }) => id),
        blobsOf("s1").length,
      ],
      [1, [], ["turn-0002"], 1],
    );
    assert.equal((await bench.checkpoints.rollbackThrough("turn-0002")).type, "restored");
    assert.equal(bench.read("a.txt"), "1");
    await turn(bench.checkpoints, "a.txt", "3");
    assert.deepEqual(
      (await bench.checkpoints.list()).map(({ id }) => id),
      ["turn-0002", "rollback-0003", "turn-0004"],
    );
  });

  it("are those of folders with the name of a session", () => {
    for (const name of ["s1", "-s", ".s", "s.1", "a".repeat(128), "a".repeat(129)])
      mkdirSync(join(bench.directory, name), { recursive: true });
    writeFileSync(join(bench.directory, "expired"), "");
    assert.deepEqual(sessionsWithCheckpoints(bench.directory).sort(), ["a".repeat(128), "s1"]);
    assert.deepEqual(sessionsWithCheckpoints(join(bench.directory, "none")), []);
    assert.throws(() => sessionsWithCheckpoints(join(bench.directory, "expired")), { code: "ENOTDIR" });
  });

  it("go with their session when it has no others", async () => {
    await turn(bench.checkpoints, "a.txt", "1");
    today += 31 * day;
    const result = await expireCheckpoints({ directory: bench.directory, now });
    assert.deepEqual([result.removedSessions, result.keptBytes, readdirSync(bench.directory)], [["s1"], 0, []]);
    assert.ok(result.freedBytes > 0);
    await turn(bench.checkpoints, "a.txt", "2");
    assert.equal((await bench.checkpoints.list()).length, 1);
  });

  it("go oldest first until all sessions together fit", async () => {
    const other = bench.reopen({ sessionId: "s2" });
    for (const [checkpoints, content] of [
      [bench.checkpoints, "a"],
      [other, "b"],
      [bench.checkpoints, "c"],
      [other, "d"],
    ] as const) {
      bench.userWrites("big.txt", content.repeat(100_000));
      today += 1000;
      await turn(checkpoints, "big.txt", `new ${content}`);
    }
    const result = await expireCheckpoints({ directory: bench.directory, maxBytes: 205_000, now });
    assert.deepEqual(
      [
        result.removedCheckpoints,
        result.keptBytes <= 205_000,
        (await bench.checkpoints.list()).map(({ id }) => id),
        (await other.list()).map(({ id }) => id),
      ],
      [2, true, ["turn-0002"], ["turn-0002"]],
    );
  });

  it("stay while their session is in the middle of a turn", async () => {
    await turn(bench.checkpoints, "a.txt", "1");
    today += 31 * day;
    bench.checkpoints.beginTurn({ turnId: "t2", prompt: "go" });
    await bench.checkpoints.capture(bench.path("a.txt"), "2");
    const result = await expireCheckpoints({ directory: bench.directory, now });
    assert.deepEqual([result.skippedSessions, result.removedCheckpoints], [["s1"], 0]);
    bench.userWrites("a.txt", "2");
    await bench.checkpoints.endTurn();
    assert.equal((await bench.checkpoints.rollbackThrough("t2")).type, "restored");
    assert.equal(bench.read("a.txt"), "1");
  });

  it("stay where lines of the log are damaged, so that nobody takes half a story for the whole", async () => {
    await turn(bench.checkpoints, "a.txt", "1");
    today += 20 * day;
    await turn(bench.checkpoints, "a.txt", "2");
    const log = join(bench.directory, "s1", "log.jsonl");
    writeFileSync(log, readFileSync(log, "utf8").replace('"type":"written"', '"type":"wrıtten"'));
    today += 15 * day;
    const result = await expireCheckpoints({ directory: bench.directory, now });
    assert.deepEqual([result.skippedSessions, (await bench.checkpoints.list()).length], [["s1"], 2]);
  });

  it("take along what a crash left unfinished", async () => {
    bench.userWrites("a.txt", "0");
    await turn(bench.checkpoints, "a.txt", "1");
    writeFileSync(join(bench.directory, "s1", "blobs", "half.tmp"), "half");
    await expireCheckpoints({ directory: bench.directory, now });
    assert.equal(blobsOf("s1").length, 1);
  });

  it("of a session that cannot be read keep neither the others nor anybody's work waiting", async () => {
    await turn(bench.checkpoints, "a.txt", "1");
    mkdirSync(join(bench.directory, "broken", "log.jsonl"), { recursive: true });
    today += 31 * day;
    const { skippedSessions, removedSessions } = await expireCheckpoints({ directory: bench.directory, now });
    assert.deepEqual([skippedSessions, removedSessions], [["broken"], ["s1"]]);
    mkdirSync(join(bench.directory, "expired")); // where the date of the last time is kept
    const later = { directory: bench.directory, now: () => Date.now() + 2 * day };
    assert.equal(await expireWhenDue(later), undefined);
  });

  it("are looked for once a day", async () => {
    assert.equal(await expireWhenDue({ directory: bench.directory, now }), undefined);
    assert.equal(existsSync(bench.directory), false);
    await turn(bench.checkpoints, "a.txt", "1");
    const ran = async () => (await expireWhenDue({ directory: bench.directory, now })) !== undefined;
    const first = [await ran(), await ran()];
    today += day;
    assert.deepEqual([...first, await ran(), await ran()], [true, false, true, false]);
  });
});
