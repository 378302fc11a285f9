import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { chooseLimit, guardPath, whyProcessesMayStay } from "./own-limit.ts";
import { guardProcesses, ownMark } from "./process-guard.ts";
import { endProcesses, findProcesses, type SweepTarget, startOf } from "./process-sweep.ts";
import { guardScript } from "./start-guard.ts";

const onLinux = { skip: existsSync("/proc/self/limits") ? false : "needs /proc" };
const line = (soft: string, hard: string): string =>
  `Limit                     Soft Limit           Hard Limit           Units     \nMax file locks            ${soft.padEnd(20)} ${hard.padEnd(20)} locks     \n`;

describe("the limit that marks processes", () => {
  it("is a number nobody else has, below the hard limit", () => {
    assert.equal(
      chooseLimit(line("unlimited", "unlimited"), () => 0),
      String(2 ** 39),
    );
    assert.equal(
      chooseLimit(line("unlimited", "unlimited"), () => 1 - 2 ** -50),
      String(2 ** 40 - 1),
    );
    assert.equal(
      chooseLimit(line("7", String(2 ** 40)), () => 0.5),
      String(2 ** 39 + 2 ** 38),
    );
    assert.notEqual(chooseLimit(line("1", "unlimited")), chooseLimit(line("1", "unlimited")));
  });

  it("is none where the hard limit is low, or not told", () => {
    for (const limits of [line("unlimited", String(2 ** 40 - 1)), line("64", "64"), "", undefined])
      assert.equal(chooseLimit(limits), undefined);
  });

  it("is none in a process that belongs to somebody else, and it says why", onLinux, async () => {
    assert.match(whyProcessesMayStay() ?? "", /^the program that uses the library/);
    const before = readFileSync("/proc/self/limits", "utf8");
    const one = await guardProcesses();
    const other = await guardProcesses();
    assert.deepEqual([one.limitIfLast(), other.limitIfLast()], [undefined, undefined]);
    one.release();
    other.release();
    other.release();
    assert.equal(readFileSync("/proc/self/limits", "utf8"), before);
    assert.match(ownMark(), /^[0-9a-f-]{36}$/);
    assert.equal(ownMark(), ownMark());
  });

  it("finds a process that bears it, and no other", onLinux, async () => {
    const limit = String(2 ** 39 + process.pid);
    const marked = spawn("bash", ["-c", `ulimit -S -x ${limit}; exec env -i sleep 60`], { stdio: "ignore" });
    const similar = spawn("bash", ["-c", `ulimit -S -x ${limit}0; exec env -i sleep 60`], { stdio: "ignore" });
    try {
      const target: SweepTarget = { mark: "no such mark", limit };
      const has = (pid = 0): boolean => readFileSync(`/proc/${pid}/cmdline`, "utf8") === "sleep\x0060\0";
      while (!has(marked.pid) || !has(similar.pid)) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.deepEqual([...findProcesses(target).keys()], [marked.pid]);
      assert.deepEqual([...findProcesses({ mark: "no such mark" }).keys()], []);
      const gone = once(marked, "exit");
      await endProcesses(target);
      await gone;
      assert.deepEqual([similar.exitCode, similar.signalCode], [null, null]);
    } finally {
      marked.kill("SIGKILL");
      similar.kill("SIGKILL");
    }
  });
});

describe("ending processes", onLinux, () => {
  it("kills at least twice, however long it takes to look", async () => {
    // Minds no SIGTERM, and says when it is so far.
    const deaf = spawn("bash", ["-c", "trap '' TERM; echo up; while true; do sleep 0.05; done"], {
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
      env: { ...process.env, GUARD_TEST: `guard-test-${process.pid}` },
    });
    await once(deaf.stdout, "data");
    const exited = once(deaf, "exit");
    let looks = 0;
    const slow = (target: SweepTarget) => {
      // A look takes longer than there is time for killing.
      if (looks++ > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
      return findProcesses(target);
    };
    try {
      await endProcesses({ mark: `guard-test-${process.pid}` }, { look: slow });
      assert.deepEqual(await exited, [null, "SIGKILL"]);
    } finally {
      deaf.kill("SIGKILL");
    }
  });

  it("looks again where a process has handed over to another one while it looked", async () => {
    const other = spawn("sleep", ["60"], { stdio: "ignore", detached: true });
    const pid = other.pid ?? 0;
    const here = new Map([[pid, { group: pid, startedAt: startOf(pid) ?? "" }]]);
    const gone = new Map([[2 ** 22 + 5, { group: 2 ** 22 + 5, startedAt: "1" }]]);
    const seen = [gone, new Map(), new Map(), here];
    try {
      const exited = once(other, "exit");
      await endProcesses({ mark: "nobody" }, { look: () => seen.shift() ?? new Map() });
      assert.deepEqual(await Promise.race([exited, delay(1_000)]), [null, "SIGKILL"]);
    } finally {
      other.kill("SIGKILL");
    }
  });

  it("gives up on what not even that ends", async () => {
    let kills = 0;
    // Said to be there for ever; the number belongs to nobody.
    const look = () => {
      kills++;
      return new Map([[2 ** 22 + 5, { group: 2 ** 22 + 5, startedAt: "1" }]]);
    };
    await endProcesses({ mark: "nobody" }, { look });
    assert.ok(kills >= 3, `${kills} looks`);
  });
});

describe("the guard", () => {
  it("is not gone while something may only have moved: an empty look is no end", onLinux, async () => {
    const mark = `guard-test-late-${process.pid}`;
    const guard = spawn("/bin/sh", ["-c", guardScript, "outrider-guard", mark, "", "0", ""], {
      env: { PATH: guardPath },
      stdio: ["pipe", "ignore", "ignore"],
    });
    guard.stdin.end();
    // Comes when the guard has begun to look and has found nobody, as the child of one that was missed would.
    while (!childrenOf(guard.pid ?? 0).includes("sleep")) await delay(1);
    const late = spawn("sleep", ["60"], { env: { PATH: process.env["PATH"], MARK: mark }, stdio: "ignore" });
    try {
      assert.deepEqual(await Promise.race([once(late, "exit"), delay(10_000)]), [null, "SIGTERM"]);
    } finally {
      late.kill("SIGKILL");
    }
  });

  it("ends what bears the mark also when the process was gone before the guard had begun", onLinux, async () => {
    const gone = spawn("cat");
    const startedAt = startOf(gone.pid ?? 0) ?? "";
    gone.stdin.end();
    await once(gone, "exit");
    const mark = `guard-test-${process.pid}`;
    const left = spawn("sleep", ["60"], { env: { PATH: process.env["PATH"], MARK: mark }, stdio: "ignore" });
    try {
      const ended = once(left, "exit");
      const args = [mark, "", String(gone.pid), startedAt];
      spawn("/bin/sh", ["-c", guardScript, "outrider-guard", ...args], { env: { PATH: guardPath }, stdio: "ignore" });
      assert.deepEqual(await ended, [null, "SIGTERM"]);
    } finally {
      left.kill("SIGKILL");
    }
  });
});

/** The names of its children. */
function childrenOf(pid: number): string[] {
  const ids = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  return ids.flatMap((id) => {
    try {
      return [readFileSync(`/proc/${id}/comm`, "utf8").trim()];
    } catch {
      return []; // it has ended
    }
  });
}
