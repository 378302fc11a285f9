import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { doorOf, knock, openDoor } from "./lock-door.ts";
import { takeLock } from "./lock.ts";
import { describeSelf, isContained, lookAtOwner, parseOwner } from "./lock-owner.ts";

const root = mkdtempSync(join(tmpdir(), "outrider-door-"));
after(() => rmSync(root, { recursive: true, force: true }));
/** Longer than the name of a socket may be. */
const freshPath = (): string => join(mkdtempSync(join(root, "l-")), `${"long".repeat(30)}.jsonl.lock`);
const onLinux = { skip: existsSync("/proc/self/ns/pid") ? false : "needs /proc" };
const elsewhere = "pid:[1]";
const outermost = "pid:[4026531836]";

/** As a process in another container would have written it. */
function moveAway(path: string): string {
  const owner = parseOwner(readFileSync(path, "utf8"));
  assert.ok(owner);
  writeFileSync(path, JSON.stringify({ ...owner, pid: 1, space: elsewhere }));
  return owner.token;
}

/** What a process that was killed leaves: the file of a socket on which nobody listens. */
async function deadDoor(path: string): Promise<void> {
  const script = `process.chdir(${JSON.stringify(dirname(path))});
    require("node:net").createServer().listen(${JSON.stringify(path.slice(dirname(path).length + 1))}, () => console.log("up"))`;
  // The name alone is short enough.
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
}

describe("a lock with a door", onLinux, () => {
  it("holds as long as its owner lives, however long that has been silent", async () => {
    const path = freshPath();
    const lock = await takeLock(path, "s1", { space: elsewhere });
    moveAway(path);
    const past = new Date(Date.now() - 3_600_000);
    utimesSync(path, past, past);
    await assert.rejects(takeLock(path, "s1"), {
      code: "session-locked",
      message: /in use by process 1 on /,
      hint: /^Wait for it to end/,
    });
    lock.release();
  });

  it("is taken over at once when its owner was killed, with what that left", async () => {
    const path = join(mkdtempSync(join(root, "l-")), "s1.lock");
    const owner = { ...describeSelf("0123456789"), pid: 1, space: elsewhere };
    writeFileSync(path, JSON.stringify(owner));
    assert.deepEqual(doorOf(path, owner.token), join(dirname(path), ".01234567.door"));
    await deadDoor(doorOf(path, owner.token));
    assert.deepEqual(await lookAtOwner(owner, path), { isAlive: false });
    (await takeLock(path, "s1", { space: outermost })).release();
    assert.deepEqual(readdirSync(dirname(path)), []);
  });

  it("of another machine is judged by its signs of life alone", async () => {
    const path = join(mkdtempSync(join(root, "l-")), "s1.lock");
    const owner = { ...describeSelf("0123456789"), space: elsewhere, boot: "another" };
    writeFileSync(path, JSON.stringify(owner));
    await deadDoor(doorOf(path, owner.token));
    const { isAlive, freeInMs = 0 } = await lookAtOwner(owner, path);
    assert.ok(isAlive && freeInMs > 20_000 && freeInMs <= 30_000, `${freeInMs}`);
  });

  it("that looks as if it came from the future is free in half a minute", async () => {
    const path = freshPath();
    const owner = { ...describeSelf("t"), boot: "another" };
    writeFileSync(path, JSON.stringify(owner));
    const future = new Date(Date.now() + 3_600_000);
    utimesSync(path, future, future);
    assert.deepEqual(await lookAtOwner(owner, path), { isAlive: true, freeInMs: 30_000 });
  });

  it("leaves nothing when it is released", async () => {
    const path = freshPath();
    const lock = await takeLock(path, "s1", { space: elsewhere });
    assert.equal(readdirSync(dirname(path)).length, 2);
    lock.release();
    assert.deepEqual(readdirSync(dirname(path)), []);
  });

  it("is made where others cannot see our processes", async () => {
    const contained = readlinkSync("/proc/self/ns/pid") !== outermost;
    assert.equal(isContained(), contained);
    assert.deepEqual([isContained(""), isContained(outermost), isContained("pid:[4026532182]")], [false, false, true]);
    for (const [options, doors] of [
      [{}, contained ? 1 : 0],
      [{ space: outermost }, 0],
      [{ space: elsewhere }, 1],
    ] as const) {
      const path = freshPath();
      const lock = await takeLock(path, "s1", options);
      assert.equal(readdirSync(dirname(path)).length, 1 + doors);
      lock.release();
    }
  });
});

describe("a door", onLinux, () => {
  it("answers for its owner, and says nothing where there is none or it cannot be made", async () => {
    const path = join(mkdtempSync(join(root, "d-")), "door");
    assert.equal(await knock(path), undefined);
    assert.equal(await knock(join(path, "below", "nothing")), undefined);
    writeFileSync(join(dirname(path), "file"), "");
    const files = readdirSync("/proc/self/fd").length;
    const door = await openDoor(path);
    assert.ok(door);
    for (let visit = 0; visit < 20; visit++) assert.equal(await knock(path), true);
    assert.equal(await openDoor(path), undefined, "there is one already");
    assert.equal(await knock(path), true, "which stays");
    assert.equal(await openDoor(join(path, "below", "nothing")), undefined);
    door.close();
    assert.equal(existsSync(path), false);
    door.close();
    mkdirSync(path);
    assert.notEqual(await knock(path), true);
    for (let tries = 0; readdirSync("/proc/self/fd").length > files && tries < 300; tries++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(readdirSync("/proc/self/fd").length, files);
  });

  it("is closed behind a visitor, also when nobody in there minds it", async () => {
    const path = join(mkdtempSync(join(root, "d-")), "door");
    const script = `require("node:net").createServer(() => {}).listen(${JSON.stringify(path)}, () => console.log("up"))`;
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    const files = readdirSync("/proc/self/fd").length;
    for (let visit = 0; visit < 20; visit++) assert.equal(await knock(path), true);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(readdirSync("/proc/self/fd").length, files);
    child.kill("SIGKILL");
    await once(child, "exit");
  });

  it("keeps no process from ending", async () => {
    const path = join(mkdtempSync(join(root, "d-")), "door");
    const kept = (): number => process.getActiveResourcesInfo().filter((kind) => kind.startsWith("Pipe")).length;
    const before = kept();
    const door = await openDoor(path);
    assert.equal(kept(), before);
    door?.close();
  });
});
