import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { takeLock } from "./lock.ts";
import { describeSelf, lookAtOwner, type Owner } from "./lock-owner.ts";

const root = mkdtempSync(join(tmpdir(), "outrider-lock-"));
after(() => rmSync(root, { recursive: true, force: true }));
const freshPath = (): string => join(mkdtempSync(join(root, "l-")), "s1.jsonl.lock");
const onLinux = { skip: existsSync("/proc/self/stat") ? false : "needs /proc" };

describe("the lock of a session", () => {
  it("is refused while its owner lives, by name, and free after it was released", async () => {
    const path = freshPath();
    const lock = await takeLock(path, "s1");
    await assert.rejects(takeLock(path, "s1"), {
      code: "session-locked",
      message: new RegExp(`process ${process.pid} on `),
      retryable: true,
      hint: /^Wait for it to end/,
    });
    lock.check();
    lock.release();
    (await takeLock(path, "s1")).release();
    assert.deepEqual(readdirSync(join(path, "..")), []);
  });

  it("is taken over at once from a process that was killed", async () => {
    const holder = spawn("sleep", ["60"]);
    const path = freshPath();
    const owner = ownerOf(holder.pid ?? 0);
    writeFileSync(path, JSON.stringify(owner));
    await assert.rejects(takeLock(path, "s1"), { code: "session-locked" });
    holder.kill("SIGKILL");
    await once(holder, "exit");
    const startedAt = Date.now();
    (await takeLock(path, "s1")).release();
    assert.ok(Date.now() - startedAt < 1000);
  });

  it("is taken over when its owner's id belongs to another process by now", onLinux, async () => {
    const path = freshPath();
    writeFileSync(path, JSON.stringify({ ...ownerOf(process.pid), started: "1" }));
    (await takeLock(path, "s1")).release();
  });

  it("is taken over from a process that has ended but was not waited for", onLinux, async () => {
    // The shell turns into `sleep`, which never waits for its child.
    const parent = spawn("sh", ["-c", "sleep 0.1 & echo $!; exec sleep 60"]);
    try {
      const [bytes] = await once(parent.stdout, "data");
      const pid = Number(String(bytes));
      while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))) await new Promise((resolve) => setTimeout(resolve, 5));
      const path = freshPath();
      writeFileSync(path, JSON.stringify(ownerOf(pid)));
      (await takeLock(path, "s1")).release();
    } finally {
      parent.kill("SIGKILL");
      await once(parent, "exit");
    }
  });

  it("of a process that cannot be seen holds until it has been silent for half a minute", async () => {
    for (const place of [{ boot: "another boot", host: "another-host" }, { space: "pid:[1]" }]) {
      const path = freshPath();
      writeFileSync(path, JSON.stringify({ ...describeSelf("elsewhere"), pid: 2 ** 22 + 1, ...place }));
      await assert.rejects(takeLock(path, "s1"), {
        code: "session-locked",
        hint: /^That process cannot be seen from here\. If it is gone, the session is free in (?:2\d|30) s\. Wait for it to end, /,
      });
      const later = new Date(Date.now() - 20_500);
      utimesSync(path, later, later);
      await assert.rejects(takeLock(path, "s1"), { hint: /free in (?:\d|10) s\. / });
      const past = new Date(Date.now() - 31_000);
      utimesSync(path, past, past);
      (await takeLock(path, "s1")).release();
      assert.deepEqual(readdirSync(join(path, "..")), []);
    }
  });

  it("that a killed process left empty, or that holds garbage, is taken over", async () => {
    for (const content of ["", "{", '"x"', "\0\0"]) {
      const path = freshPath();
      writeFileSync(path, content);
      (await takeLock(path, "s1")).release();
    }
  });

  it("lets exactly one of many in, also over a stale lock", async () => {
    for (let round = 0; round < 20; round++) {
      const path = freshPath();
      writeFileSync(path, JSON.stringify({ ...describeSelf("dead"), pid: 2 ** 22 + 1 }));
      const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => takeLock(path, "s1")));
      const winners = attempts.flatMap((attempt) => (attempt.status === "fulfilled" ? [attempt.value] : []));
      assert.equal(winners.length, 1);
      winners[0]?.release();
      assert.deepEqual(readdirSync(join(path, "..")), []);
    }
  });

  it("can be broken although a process was killed while it broke it", async () => {
    const path = freshPath();
    writeFileSync(path, JSON.stringify({ ...describeSelf("dead"), pid: 2 ** 22 + 1 }));
    writeFileSync(`${path}.stale-dead`, "left behind");
    (await takeLock(path, "s1")).release(); // waits until the claim is so old that nobody can be behind it
    assert.deepEqual(readdirSync(dirname(path)), []);
  });

  it("that was lost is noticed before anything is written", async (context) => {
    context.mock.timers.enable({ apis: ["Date"], now: Date.now() });
    const path = freshPath();
    const lock = await takeLock(path, "s1");
    writeFileSync(path, JSON.stringify(describeSelf("another writer")));
    context.mock.timers.tick(9_999);
    lock.check(); // believed without looking
    context.mock.timers.tick(1);
    assert.throws(() => lock.check(), { code: "session-locked" });
    context.mock.timers.tick(60_000); // as after a long sleep of the machine
    assert.throws(() => lock.check(), { code: "session-locked", hint: /once the other process has ended/ });
    lock.release();
    assert.ok(existsSync(path)); // not ours to remove
  });

  it("that is still ours is looked at once in ten seconds", async (context) => {
    context.mock.timers.enable({ apis: ["Date"], now: Date.now() });
    const path = freshPath();
    const lock = await takeLock(path, "s1");
    context.mock.timers.tick(60_000);
    lock.check();
    writeFileSync(path, JSON.stringify(describeSelf("another writer")));
    context.mock.timers.tick(9_999);
    lock.check();
    context.mock.timers.tick(1);
    assert.throws(() => lock.check(), { code: "session-locked" });
    lock.release();
  });
});

describe("the owner of a lock without /proc", () => {
  it("is told from a later process by when that was started", {
    skip: spawnSync("ps", ["-p", "1"]).status === 0 ? false : "needs ps",
  }, async () => {
    const self = { ...describeSelf("x"), started: "" };
    assert.deepEqual(await lookAtOwner(self, "/nowhere"), { isAlive: true });
    const { started, boot, space, ...old } = describeSelf("x");
    assert.deepEqual(await lookAtOwner({ ...old, started: "", boot: "", space: "" }, "/nowhere"), { isAlive: true });
  });
});

function ownerOf(pid: number): Owner {
  const self = describeSelf("other");
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "utf8") : "";
  return {
    ...self,
    pid,
    started: stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "",
    startedAt: stat ? self.startedAt : 0,
  };
}
