import assert from "node:assert/strict";
import fs, { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, describe, it } from "node:test";
import { takeLock } from "./lock.ts";
import { describeSelf, lookAtOwner, parseOwner } from "./lock-owner.ts";

const root = mkdtempSync(join(tmpdir(), "outrider-lock-faults-"));
after(() => rmSync(root, { recursive: true, force: true }));
const freshPath = (): string => join(mkdtempSync(join(root, "l-")), "s1.jsonl.lock");
const dead = { ...describeSelf("dead"), pid: 2 ** 22 + 1 };
const openFiles = (): number => readdirSync("/proc/self/fd").length;
const onLinux = { skip: existsSync("/proc/self/fd") ? false : "needs /proc" };

const undo: (() => void)[] = [];
afterEach(() => {
  for (const one of undo.splice(0).reverse()) one();
  syncBuiltinESMExports();
});

/** The file system does `instead` when it is asked for `name`. */
function fault<Name extends "linkSync" | "renameSync" | "writeFileSync" | "unlinkSync">(
  name: Name,
  instead: (original: (typeof fs)[Name], ...args: Parameters<(typeof fs)[Name]>) => void,
): void {
  const original = fs[name];
  Reflect.set(fs, name, (...args: Parameters<(typeof fs)[Name]>) => instead(original, ...args));
  undo.push(() => Reflect.set(fs, name, original));
  syncBuiltinESMExports();
}

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: made up`), { code });
}

describe("a lock on a full disk", () => {
  for (const code of ["ENOSPC", "EDQUOT"]) {
    it(`(${code}) is refused and leaves nothing behind, unless it is for a moment that may make room`, onLinux, async () => {
      const path = freshPath();
      fault("writeFileSync", () => {
        throw failure(code);
      });
      const before = openFiles();
      await assert.rejects(takeLock(path, "s1"), { code: "storage-failed", message: new RegExp(`^Cannot lock .*${code}`) });
      assert.deepEqual([readdirSync(dirname(path)), openFiles()], [[], before]);
      const lock = await takeLock(path, "s1", { brief: true });
      assert.equal(readFileSync(path, "utf8"), "");
      lock.release();
      assert.deepEqual([readdirSync(dirname(path)), openFiles()], [[], before]);
    });
  }

  it("is refused for a moment too when the disk is broken", async () => {
    const path = freshPath();
    fault("writeFileSync", () => {
      throw failure("EIO");
    });
    await assert.rejects(takeLock(path, "s1", { brief: true }), { code: "storage-failed" });
    assert.deepEqual(readdirSync(dirname(path)), []);
  });

  it("that has no name is not removed when another file has taken its place", async () => {
    const path = freshPath();
    fault("writeFileSync", () => {
      throw failure("ENOSPC");
    });
    const lock = await takeLock(path, "s1", { brief: true });
    rmSync(path);
    fs.closeSync(fs.openSync(path, "wx"));
    lock.release();
    assert.equal(existsSync(path), true);
  });
});

describe("a dead lock", () => {
  it("is taken over on a file system without second names", async () => {
    for (const code of ["EPERM", "ENOTSUP"]) {
      const path = freshPath();
      writeFileSync(path, JSON.stringify(dead));
      fault("linkSync", () => {
        throw failure(code);
      });
      (await takeLock(path, "s1")).release();
      assert.deepEqual(readdirSync(dirname(path)), []);
    }
  });

  it("is left to whoever was faster, whose lock then counts", async () => {
    for (const left of [JSON.stringify(dead), "garbage"]) {
      const path = freshPath();
      writeFileSync(path, left);
      let moved = false;
      fault("linkSync", () => {
        rmSync(path);
        writeFileSync(path, JSON.stringify(describeSelf("faster")));
        throw failure("ENOENT");
      });
      fault("renameSync", () => {
        moved = true;
      });
      await assert.rejects(takeLock(path, "s1"), { code: "session-locked", message: /in use by process/ });
      assert.deepEqual([parseOwner(readFileSync(path, "utf8"))?.token, moved], ["faster", false]);
    }
  });

  it("is claimed again when the other one's claim is gone by now", async () => {
    const path = freshPath();
    writeFileSync(path, JSON.stringify(dead));
    let claims = 0;
    fault("linkSync", (link, from, to) => {
      if (++claims === 1) throw failure("EEXIST");
      link(from, to);
    });
    (await takeLock(path, "s1")).release();
    assert.deepEqual([claims, readdirSync(dirname(path))], [2, []]);
  });

  it("is claimed again when somebody took the claim away", async () => {
    const path = freshPath();
    writeFileSync(path, JSON.stringify(dead));
    let claims = 0;
    fault("linkSync", (link, from, to) => {
      link(from, to);
      if (++claims === 1) rmSync(to);
    });
    (await takeLock(path, "s1")).release();
    assert.deepEqual([claims, readdirSync(dirname(path))], [2, []]);
  });

  it("is not removed when another lock came into its place before it was claimed", async () => {
    const path = freshPath();
    writeFileSync(path, JSON.stringify(dead));
    fault("linkSync", (link, from, to) => {
      writeFileSync(path, JSON.stringify(describeSelf("faster")));
      link(from, to);
    });
    await assert.rejects(takeLock(path, "s1"), { code: "session-locked" });
    assert.deepEqual(readdirSync(dirname(path)), ["s1.jsonl.lock"]);
  });

  it("that nobody can break is given up on after three seconds, for now", async () => {
    let attempts = 0;
    fault("linkSync", () => {
      attempts++;
      throw failure("EPERM");
    });
    fault("renameSync", () => {
      throw failure("EPERM");
    });
    const contents = [JSON.stringify(dead), "garbage"];
    await Promise.all(
      contents.map(async (content) => {
        const path = freshPath();
        writeFileSync(path, content);
        const startedAt = Date.now();
        await assert.rejects(takeLock(path, "s1"), { code: "session-locked", message: /by other writers/, retryable: true });
        assert.ok(Date.now() - startedAt >= 3000);
        assert.equal(readFileSync(path, "utf8"), content);
      }),
    );
    assert.ok(attempts < 400, `${attempts} attempts: it waits in between`);
  });

  it("stays while somebody else breaks it: a claim is only dropped when it is old", async () => {
    const path = freshPath();
    writeFileSync(path, JSON.stringify(dead));
    writeFileSync(`${path}.stale-dead`, "another breaks it");
    const ages: number[] = [];
    fault("unlinkSync", (unlink, name) => {
      if (String(name).includes(".stale-")) ages.push(Date.now() - statSync(name).ctimeMs);
      unlink(name);
    });
    (await takeLock(path, "s1")).release();
    assert.ok((ages[0] ?? 0) > 2000, `the other one's claim was dropped after ${ages[0]} ms`);
  });
});

describe("a lock that cannot be read", () => {
  it("is a failure of the storage, not a free place", async () => {
    const path = freshPath();
    fs.mkdirSync(path);
    await assert.rejects(takeLock(path, "s1"), { code: "storage-failed", message: /^Cannot read .*EISDIR/ });
    await assert.rejects(takeLock(join(path, "nowhere", "x.lock"), "s1"), {
      code: "storage-failed",
      message: /^Cannot lock .*ENOENT/,
    });
  });

  it("that is being made is waited for", async () => {
    const path = freshPath();
    writeFileSync(path, "");
    setTimeout(() => writeFileSync(path, JSON.stringify(describeSelf("slow"))), 50);
    await assert.rejects(takeLock(path, "s1"), { code: "session-locked", message: /in use by process/ });
  });

  it("that is taken away while it is looked at is free", async () => {
    const path = freshPath();
    writeFileSync(path, "");
    setTimeout(() => rmSync(path), 50);
    (await takeLock(path, "s1")).release();
  });

  it("that its owner gives back between two looks is free", async () => {
    const path = freshPath();
    writeFileSync(path, JSON.stringify(describeSelf("just done")));
    const { statSync: original } = fs;
    Reflect.set(fs, "statSync", (...args: Parameters<typeof original>) => {
      if (args[0] === path) rmSync(path, { force: true });
      return original(...args);
    });
    undo.push(() => Reflect.set(fs, "statSync", original));
    syncBuiltinESMExports();
    (await takeLock(path, "s1")).release();
  });
});

describe("a lock that is held", () => {
  it("gives back its file, and keeps its name whole when it shows a sign of life", onLinux, async (context) => {
    context.mock.timers.enable({ apis: ["Date", "setInterval"], now: Date.now() });
    const path = freshPath();
    const before = openFiles();
    const lock = await takeLock(path, "s1");
    const written = readFileSync(path, "utf8");
    const past = new Date(0);
    utimesSync(path, past, past);
    context.mock.timers.tick(5000);
    assert.ok(statSync(path).mtimeMs > 0);
    assert.equal(readFileSync(path, "utf8"), written);
    lock.release();
    assert.equal(openFiles(), before);
  });

  it("shows no sign of life after its release: its file's number may be another file's by then", async (context) => {
    context.mock.timers.enable({ apis: ["setInterval"] });
    const path = freshPath();
    (await takeLock(path, "s1")).release();
    const other = fs.openSync(`${path}.other`, "w");
    context.mock.timers.tick(5000);
    fs.closeSync(other);
    assert.equal(readFileSync(`${path}.other`, "utf8"), "");
  });

  it("is believed for ten seconds after each sign of life that found it", async (context) => {
    context.mock.timers.enable({ apis: ["Date", "setInterval"], now: Date.now() });
    const path = freshPath();
    const lock = await takeLock(path, "s1");
    context.mock.timers.tick(5000);
    rmSync(path);
    writeFileSync(path, JSON.stringify(describeSelf("another writer")));
    context.mock.timers.tick(9999);
    lock.check();
    context.mock.timers.tick(1); // a beat that finds another one's lock is no proof
    assert.throws(() => lock.check(), { code: "session-locked" });
    lock.release();
  });

  it("that was removed is lost, and stays so", async (context) => {
    context.mock.timers.enable({ apis: ["Date"], now: Date.now() });
    const path = freshPath();
    const lock = await takeLock(path, "s1");
    rmSync(path);
    context.mock.timers.tick(10_000);
    assert.throws(() => lock.check(), { code: "session-locked" });
    lock.release();
    assert.equal(existsSync(path), false);
  });
});

describe("the owner of a lock", () => {
  it("describes itself: who, where and since when", onLinux, () => {
    const { pid, host, started, boot, space, startedAt, token } = describeSelf("t");
    assert.deepEqual([pid, host, token], [process.pid, hostname(), "t"]);
    assert.ok(Math.abs(startedAt - (Date.now() - process.uptime() * 1000)) < 1000);
    assert.match(started, /^\d+$/);
    assert.match(boot, /^[0-9a-f-]{36}$/);
    assert.match(space, /^pid:\[\d+\]$/);
  });

  it("is read when it is whole, also as older versions wrote it", () => {
    for (const text of ["", "null", "7", '"x"', "[]", "{}", '{"pid": 1}', '{"token": "t"}', '{"pid": 1, "token"'])
      assert.equal(parseOwner(text), undefined, text);
    const rest = { host: "", started: "", boot: "", space: "", startedAt: 0 };
    assert.deepEqual(parseOwner('{"pid": 1, "token": "t"}'), { ...rest, pid: 1, token: "t" });
  });

  const isAlive = async (...about: Parameters<typeof lookAtOwner>): Promise<boolean> => (await lookAtOwner(...about)).isAlive;

  it("of an older version lives where its host's name is ours", async () => {
    const path = freshPath();
    writeFileSync(path, "");
    const past = new Date(Date.now() - 31_000);
    utimesSync(path, past, past);
    const old = { ...describeSelf("t"), boot: "", space: "", started: "" };
    assert.deepEqual(
      [
        await isAlive(old, path),
        await isAlive({ ...old, host: "elsewhere" }, path),
        await isAlive({ ...old, pid: dead.pid }, path),
      ],
      [true, false, false],
    );
    assert.equal(await isAlive({ ...old, host: "elsewhere" }, join(path, "nowhere")), true, "what cannot be judged holds");
    assert.deepEqual(readdirSync(dirname(path)), ["s1.jsonl.lock"]);
  });

  it("that cannot be seen is dead from the very millisecond on in which its time is up", async () => {
    const path = freshPath();
    writeFileSync(path, "");
    const { statSync: original } = fs;
    const states = [];
    for (const silent of [29_999, 30_000]) {
      Reflect.set(fs, "statSync", (...args: Parameters<typeof original>) => {
        const stat = original(...args);
        if (stat) Object.assign(stat, { mtimeMs: args[0] === path ? 1_000_000 : 1_000_000 + silent });
        return stat;
      });
      syncBuiltinESMExports();
      states.push(await lookAtOwner({ ...describeSelf("t"), boot: "another boot" }, path));
    }
    Reflect.set(fs, "statSync", original);
    syncBuiltinESMExports();
    assert.deepEqual(states, [
      { isAlive: true, freeInMs: 1 },
      { isAlive: false, freeInMs: 0 },
    ]);
  });

  it("from before the machine was started again is another one, also with the same name and number", async () => {
    const path = freshPath();
    writeFileSync(path, "");
    const past = new Date(Date.now() - 31_000);
    utimesSync(path, past, past);
    assert.equal(await isAlive({ ...describeSelf("t"), boot: "another boot" }, path), false);
  });

  it("of another user, to which no signal may be sent, lives", async () => {
    const { kill } = process;
    Reflect.set(process, "kill", () => {
      throw failure("EPERM");
    });
    undo.push(() => Reflect.set(process, "kill", kill));
    assert.equal(await isAlive(describeSelf("t"), freshPath()), true);
  });
});
