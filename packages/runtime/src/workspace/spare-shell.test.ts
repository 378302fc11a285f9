import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createLocalWorkspace } from "./local.ts";
import type { RunCommand, RunResult, Workspace } from "./workspace.ts";

const linuxOnly = { skip: process.platform !== "linux" };
let directory: string;
let workspace: Workspace;

describe("a shell that waits for the next command", linuxOnly, () => {
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "outrider-spare-"));
    workspace = createLocalWorkspace({
      root: directory,
      env: { PATH: process.env["PATH"] ?? "", HOME: directory },
      overflowDirectory: directory,
    });
  });

  afterEach(async () => {
    await workspace.close();
    assert.deepEqual(waiting(), [], "close() leaves no shell");
    assert.deepEqual(workspace.stopped?.(), [], "and tells of none");
    rmSync(directory, { recursive: true, force: true });
  });

  it("runs the command that follows", async () => {
    const [pid] = await raise();
    assert.deepEqual(await run("echo $$"), { result: { end: "exit", exitCode: 0 }, text: `${pid}\n`, errors: "" });
    assert.notEqual((await raise())[0], pid, "and is one command's only");
  });

  const facts = [
    "echo $0 $# $- $LINENO $SECONDS $BASH_SUBSHELL $BASH_SOURCE; compgen -v outrider; trap; set -o",
    "env | grep -v ^OUTRIDER_PROCESS_SCOPE | sort",
    "cat; ls /proc/$$/fd; readlink /proc/$$/fd/0",
    "echo out; echo err >&2; nonesuch; echo $(( 1 / 0 ))\necho $LINENO; false",
    "eval $'echo one\\necho \\'open'; echo $?",
    "set -e; false; echo not reached",
    "trap 'echo at the end' EXIT; exit 3",
    "kill -9 $$",
    "umask; ulimit -a; pwd; echo $OLDPWD",
    "echo é '漢🙂' \"it's\"; x=\\\\ä\nprintf '%s ' $LINENO \"$x\"; nonesuch\n",
    "x='a  b'; printf '%s|' \"$x\" '*' \\\\n $'\\t'; f() { echo $LINENO; }\n\nf",
  ];
  for (const script of facts) {
    it(`is what a new one would be: ${JSON.stringify(script)}`, async () => {
      writeFileSync(join(directory, ".bashrc"), "echo read ~/.bashrc\n");
      const plain = await run(script, { isRepeated: undefined });
      await raise();
      assert.deepEqual(await run(script), plain);
      assert.deepEqual(waiting(), [], "it was that shell");
    });
  }

  const others: [string, Partial<RunCommand> & { script?: string }][] = [
    ["with other variables", { env: { MORE: "1" } }],
    ["in another folder", { cwd: "/" }],
    ["that has something to read", { input: "words", script: "cat" }],
    ["whose shell reads a file first", { env: { BASH_ENV: "/dev/null" } }],
  ];
  for (const [name, { script = "echo $$", ...options }] of others) {
    it(`is not for a command ${name}`, async () => {
      const [pid] = await raise();
      const { result, text } = await run(script, options);
      assert.deepEqual(result, { end: "exit", exitCode: 0 });
      assert.notEqual(text, `${pid}\n`);
    });
  }

  it("is not used when its folder was made anew", async () => {
    const cwd = join(directory, "work");
    mkdirSync(cwd);
    await raise({ cwd });
    renameSync(cwd, join(directory, "old"));
    mkdirSync(cwd);
    writeFileSync(join(cwd, "here"), "");
    assert.equal((await run("ls", { cwd })).text, "here\n");
  });

  it("is not waited for where bash cannot wait", async () => {
    mkdirSync(join(directory, "bin"));
    writeFileSync(join(directory, "bin/bash"), '#!/bin/sh\nexec /bin/sh "$@"\n', { mode: 0o755 });
    const env = { PATH: `${directory}/bin:${process.env["PATH"]}` };
    for (const word of ["one", "two", "three"]) assert.equal((await run(`echo ${word}`, { env })).text, `${word}\n`);
  });

  it("ends with the command it runs when that is stopped", async () => {
    await raise();
    const stop = new AbortController();
    const running = run("echo began; sleep 60", { signal: stop.signal, onOutput: () => stop.abort() });
    assert.deepEqual((await running).result, { end: "aborted" });
  });
});

type Ran = { readonly result: RunResult; readonly text: string; readonly errors: string };

async function run(script: string, options: Partial<RunCommand> = {}): Promise<Ran> {
  const heard = { stdout: "", stderr: "" };
  const result = await workspace.run({
    ...{ file: "bash", args: ["-c", script], timeoutMs: 20_000, signal: new AbortController().signal, isRepeated: true },
    onOutput: ({ stream, bytes }) => {
      heard[stream] += Buffer.from(bytes).toString("utf8");
    },
    ...options,
  });
  return { result, text: heard.stdout, errors: heard.stderr };
}

/** After a command one stands. */
async function raise(options: Partial<RunCommand> = {}): Promise<number[]> {
  await run("true", options);
  for (let tries = 0; waiting().length === 0 && tries < 1_000; tries++) await pause(5);
  const found = waiting();
  assert.equal(found.length, 1);
  return found;
}

/** The shells of this process that wait: those that have no script yet sit on file 3. */
function waiting(): number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      const isOurs = readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]?.split(" ")[1] === String(process.pid);
      return isOurs && readFileSync(`/proc/${name}/cmdline`, "utf8").includes("outrider-shell-ready") ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
