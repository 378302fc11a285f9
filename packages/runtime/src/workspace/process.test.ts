import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createLocalWorkspace } from "./local.ts";
import type { RunCommand, RunResult, Workspace } from "./workspace.ts";

const linuxOnly = { skip: process.platform !== "linux" };
let directory: string;
let workspace: Workspace;
let rounds = 0;
/** A duration no other process on the machine sleeps for: how a test knows its own. */
let duration: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "outrider-process-"));
  workspace = createLocalWorkspace({
    root: directory,
    env: { PATH: process.env["PATH"] ?? "", KEPT: "yes" },
    overflowDirectory: directory,
  });
  duration = `9${process.pid}.${++rounds}`;
});

afterEach(async () => {
  await workspace.close();
  const left = sleepers();
  for (const pid of left) process.kill(pid, "SIGKILL");
  rmSync(directory, { recursive: true, force: true });
  assert.deepEqual(left, [], "close() leaves nothing alive");
});

type Ran = { result: RunResult; stdout: string; stderr: string; ms: number };

async function run(script: string, options: Partial<RunCommand> = {}): Promise<Ran> {
  const text = { stdout: "", stderr: "" };
  const started = performance.now();
  const result = await workspace.run({
    file: "bash",
    args: ["-c", script],
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    onOutput: ({ stream, bytes }) => {
      text[stream] += Buffer.from(bytes).toString("latin1");
    },
    ...options,
  });
  return { result, ...text, ms: performance.now() - started };
}

/** Living processes `sleep <duration>`, found without the means under test. */
function sleepers(): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").flatMap((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, "latin1") === `sleep\0${duration}\0` ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

function lives(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

async function untilSleeping(count: number): Promise<void> {
  for (let turn = 0; sleepers().length < count; turn++) {
    assert.ok(turn < 500, `only ${sleepers().length} of ${count} sleepers came up`);
    await pause(10);
  }
}

describe("run", () => {
  it("tells how a program ended and what it printed", async () => {
    const { result, stdout, stderr } = await run("echo out; echo err >&2; exit 7");
    assert.deepEqual({ result, stdout, stderr }, { result: { end: "exit", exitCode: 7 }, stdout: "out\n", stderr: "err\n" });
    assert.deepEqual((await run("kill -KILL $$")).result, { end: "signal", signal: "SIGKILL" });
  });

  it("gives exactly the environment it was made with, the command's own, and its mark", async () => {
    const { stdout } = await run("exec env", { file: "env", args: [], env: { MORE: "1", KEPT: "changed" } });
    const names = stdout.trim().split("\n").sort();
    assert.deepEqual(
      names.map((line) => line.replace(/^(OUTRIDER_PROCESS_SCOPE=)[0-9a-f-]{36}\.[0-9a-f-]{36}\/1;$/, "$1#")),
      ["KEPT=changed", "MORE=1", "OUTRIDER_PROCESS_SCOPE=#", `PATH=${process.env["PATH"]}`],
    );
  });

  it("feeds the input, or an empty one, and does not mind a program that ignores it", async () => {
    assert.equal((await run("cat", { input: "é\n" })).stdout, Buffer.from("é\n").toString("latin1"));
    assert.equal((await run("cat; echo end")).stdout, "end\n");
    assert.deepEqual((await run("exit 3", { input: "x".repeat(5_000_000) })).result, { end: "exit", exitCode: 3 });
  });

  it("delivers everything that was printed before the exit, also in bulk", async () => {
    for (let round = 0; round < 10; round++) assert.equal((await run("head -c 3000000 /dev/zero")).stdout.length, 3_000_000);
  });

  it("rejects with a reason when the program or the directory is not there", async () => {
    await assert.rejects(run("", { file: "outrider-no-such-program" }), {
      code: "not-found",
      message: /no program "outrider-no-such-program"/,
    });
    await assert.rejects(run("", { cwd: "gone" }), { code: "usage", message: /gone does not exist/ });
    await assert.rejects(run("x".repeat(200_000)), { code: "usage", message: /too long/ });
    await assert.rejects(run("a\0b"), { code: "usage" });
  });

  it("does not wait for what was left in the background, even when it holds the output", async () => {
    const { result, stdout, ms } = await run(`sleep ${duration} & echo started`);
    assert.deepEqual({ result, stdout }, { result: { end: "exit", exitCode: 0 }, stdout: "started\n" });
    assert.ok(ms < 5_000, `${ms} ms`);
  });

  it("lets a background program print on without breaking it, until close()", linuxOnly, async () => {
    const { stdout } = await run("{ while :; do echo noise || exit; done; } & echo $!");
    const pid = Number(stdout.split("\n").find((line) => /^\d+$/.test(line)));
    await pause(300);
    assert.ok(lives(pid));
    await workspace.close();
    assert.ok(!lives(pid));
  });

  it("keeps the event loop free of what lives in the background", async () => {
    const held = process.getActiveResourcesInfo();
    await run(`sleep ${duration} &`);
    assert.deepEqual(process.getActiveResourcesInfo().sort(), held.sort());
  });
});

describe("timeout and abort", () => {
  const escapes = (): string =>
    [
      `sleep ${duration} &`, // in the group
      `setsid sleep ${duration} &`, // another session
      `nohup sleep ${duration} > /dev/null 2>&1 &`,
      `(setsid bash -c 'sleep ${duration} & disown' &)`, // double fork, parent gone
      `env -i PATH="$PATH" setsid sleep ${duration} &`, // no mark, but still a child
      `bash -c 'trap "" TERM; sleep ${duration}' &`, // deaf to SIGTERM
    ].join("\n");

  it("an abort ends everything the command started, within a second", linuxOnly, async () => {
    for (let round = 0; round < 3; round++) {
      const abort = new AbortController();
      const running = run(`${escapes()}\ntrap "" TERM\necho ready\nwhile :; do sleep ${duration}; done`, {
        signal: abort.signal,
      });
      await untilSleeping(7);
      const aborted = performance.now();
      abort.abort();
      const { result, stdout } = await running;
      assert.ok(performance.now() - aborted < 1_500, `${performance.now() - aborted} ms`);
      assert.deepEqual({ result, stdout, left: sleepers() }, { result: { end: "aborted" }, stdout: "ready\n", left: [] });
    }
  });

  it("a timeout does the same and keeps what was printed", linuxOnly, async () => {
    const { result, stdout } = await run(`${escapes()}\necho before\nsleep ${duration}`, { timeoutMs: 400 });
    assert.deepEqual({ result, stdout, left: sleepers() }, { result: { end: "timeout" }, stdout: "before\n", left: [] });
  });

  it("gives a program the time to tidy up", async () => {
    const { result, stdout } = await run(`trap 'echo tidy; exit 0' TERM; echo up; sleep ${duration} & wait`, { timeoutMs: 500 });
    assert.deepEqual({ result, stdout }, { result: { end: "timeout" }, stdout: "up\ntidy\n" });
  });

  it("ends also what starts because it was asked to end", linuxOnly, async () => {
    const { result } = await run(`trap 'setsid sleep ${duration} & exit' TERM; sleep ${duration} & wait`, { timeoutMs: 400 });
    assert.deepEqual({ result, left: sleepers() }, { result: { end: "timeout" }, left: [] });
  });

  it("starts nothing when the signal has fired already", async () => {
    const file = join(directory, "touched");
    assert.deepEqual((await run(`touch ${file}`, { signal: AbortSignal.abort() })).result, { end: "aborted" });
    assert.deepEqual(readdirSync(directory), []);
  });

  it("spares what other commands of the workspace started", linuxOnly, async () => {
    await run(`setsid sleep ${duration} & sleep ${duration} &`);
    await untilSleeping(2);
    assert.deepEqual((await run("sleep 60", { timeoutMs: 100 })).result, { end: "timeout" });
    assert.equal(sleepers().length, 2);
  });
});

describe("close", () => {
  it("ends what commands left behind, wherever it went", linuxOnly, async () => {
    const script = [
      `sleep ${duration} &`,
      `setsid sleep ${duration} &`,
      `(setsid bash -c 'sleep ${duration} & disown' &)`,
      `env -i PATH="$PATH" sleep ${duration} &`,
      "true",
    ].join("\n");
    assert.deepEqual((await run(script)).result, { end: "exit", exitCode: 0 });
    await untilSleeping(4);
    await workspace.close();
    assert.deepEqual(sleepers(), []);
  });

  it("ends a server that went to the background and wrote over its environment", linuxOnly, async () => {
    // As databases and web servers do: another session, no parent, no terminal, nothing of ours in /proc/PID/environ.
    await run(`(env -i PATH="$PATH" setsid sleep ${duration} > /dev/null 2>&1 < /dev/null &)`);
    await untilSleeping(1);
    await workspace.close();
    assert.deepEqual(sleepers(), []);
  });

  it("leaves servers of other workspaces alone, and no file behind", linuxOnly, async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith("outrider-"));
    const other = createLocalWorkspace({
      root: directory,
      env: { PATH: process.env["PATH"] ?? "" },
      overflowDirectory: directory,
    });
    await other.run({ file: "true", args: [], timeoutMs: 5_000, signal: new AbortController().signal });
    await run(`(env -i PATH="$PATH" setsid sleep ${duration} > /dev/null 2>&1 < /dev/null &)`);
    await untilSleeping(1);
    await other.close();
    assert.equal(sleepers().length, 1);
    const tokens = readdirSync(tmpdir()).filter((name) => /^outrider-[0-9a-f]{8}-[0-9a-f-]{27}$/.test(name));
    assert.deepEqual(
      tokens.filter((name) => !before.includes(name)),
      [],
    );
  });

  it("ends what is running, and nothing starts after it", async () => {
    const running = run("echo up; sleep 60");
    await workspace.close();
    assert.deepEqual((await running).result, { end: "aborted" });
    await assert.rejects(run("true"), { code: "closed" });
  });

  it("of an outer workspace reaches into an inner one, and not the other way round", linuxOnly, async () => {
    const { stdout } = await run("echo $OUTRIDER_PROCESS_SCOPE");
    const env = { PATH: process.env["PATH"] ?? "", OUTRIDER_PROCESS_SCOPE: stdout.trim() };
    const inner = createLocalWorkspace({ root: directory, env, overflowDirectory: directory });
    const signal = new AbortController().signal;
    await run(`setsid sleep ${duration} &`);
    await untilSleeping(1);
    const [outerSleeper] = sleepers();
    await inner.run({ file: "bash", args: ["-c", `setsid sleep ${duration} &`], timeoutMs: 5_000, signal });
    await untilSleeping(2);
    await inner.close();
    assert.deepEqual(sleepers(), [outerSleeper]);

    const again = createLocalWorkspace({ root: directory, env, overflowDirectory: directory });
    await again.run({ file: "bash", args: ["-c", `setsid sleep ${duration} &`], timeoutMs: 5_000, signal });
    await untilSleeping(2);
    await workspace.close();
    assert.deepEqual(sleepers(), []);
  });
});
