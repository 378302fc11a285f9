import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runProgram } from "./run-program.ts";

const env = { PATH: process.env["PATH"] ?? "" };
const run = (script: string, more: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
  runProgram("sh", ["-c", script], { cwd: "/", env, ...more });

describe("a program", () => {
  it("ends with its own end, whatever it has left behind holds its output", async () => {
    const began = Date.now();
    assert.deepEqual(await run("echo one; sleep 60 & exit 3"), { code: 3, stdout: "one\n", stderr: "", isTimedOut: false });
    assert.equal((await run("echo two; setsid sleep 61 & sleep 0.2; exit 0")).stdout, "two\n");
    assert.ok(Date.now() - began < 30_000);
  });

  it("ends at its time limit and with its signal, also when it does not want to", async () => {
    const began = Date.now();
    const late = await run("trap '' TERM; setsid sleep 62 & while :; do sleep 1; done", { timeoutMs: 500 });
    assert.deepEqual([late.code, late.isTimedOut], [null, true]);
    await assert.rejects(run("setsid sleep 63 & sleep 64", { signal: AbortSignal.timeout(500) }));
    assert.ok(Date.now() - began < 30_000);
  });

  it("is known by the end of what it printed, however much that was", async () => {
    const { stdout } = await run("head -c 3000000 /dev/zero | tr '\\0' x; echo the end");
    assert.deepEqual([stdout.length, stdout.slice(-9)], [1024 * 1024, "xthe end\n"]);
  });
});
