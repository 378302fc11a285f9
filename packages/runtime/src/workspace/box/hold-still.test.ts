import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { holdStill, whileStill } from "./hold-still.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-hold-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A shell whose children each have children, all of which count on; the answer says how far all of them are. */
function startCounters(name: string) {
  const count = 'while :; do echo >> "$0.$1"; done';
  const nested = `(exec sh -c '${count}' "$0" a) & (exec sh -c '${count}' "$0" b) & wait`;
  // The first one is bubblewrap here: what lives in its box is below it.
  const child = spawn("sh", ["-c", `sh -c '${nested.replaceAll("'", `'\\''`)}' "$0" & wait`, join(folder, name)], {
    detached: true,
  });
  after(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"));
  const read = (): string =>
    ["a", "b"].map((end) => statSync(join(folder, `${name}.${end}`), { throwIfNoEntry: false })?.size ?? 0).join();
  const begun = async (): Promise<void> => {
    for (let tries = 0; tries < 500 && read().split(",").includes("0"); tries++) await pause(20);
    assert.ok(!read().split(",").includes("0"), "the counters did not begin");
  };
  const moves = async (): Promise<void> => {
    const before = read();
    for (let tries = 0; tries < 500 && read() === before; tries++) await pause(20);
    assert.notEqual(read(), before);
  };
  return { pid: child.pid ?? 0, read, begun, moves };
}

describe("what lives in boxes", { skip: process.platform !== "linux" && "there is no /proc" }, () => {
  it("stands still, all of it, until it is released", async () => {
    const { pid, read, begun, moves } = startCounters("held");
    await begun();
    const held = await holdStill([pid]);
    assert.equal(held.isStill, true);
    const before = read();
    await pause(100);
    assert.equal(read(), before);
    held.release();
    await moves();
  });

  it("stands still while something is done, and goes on when that fails", async () => {
    const { pid, read, begun, moves } = startCounters("work");
    await begun();
    const box = { pid: Promise.resolve(pid), discard: () => assert.fail("it could be held") };
    const work = async (): Promise<never> => {
      const before = read();
      await pause(100);
      assert.equal(read(), before);
      throw new Error("as planned");
    };
    await assert.rejects(whileStill([box], work), /as planned/);
    await moves();
  });

  it("stands still for two that do something about it at once, to the end of the later one", async () => {
    const { pid, read, begun, moves } = startCounters("two");
    await begun();
    const box = { pid: Promise.resolve(pid), discard: () => assert.fail("it could be held") };
    const work = (ms: number) => async (): Promise<void> => {
      const before = read();
      await pause(ms);
      assert.equal(read(), before);
    };
    await Promise.all([whileStill([box], work(50)), whileStill([box], work(200))]);
    await moves();
  });

  it("does not keep anything from being done where nothing lives", async () => {
    assert.equal(await whileStill([], async () => 1), 1);
    const box = { pid: Promise.resolve(undefined), discard: () => assert.fail("there is nothing to end") };
    assert.equal(await whileStill([box], async () => 2), 2);
  });
});
