import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createLocalWorkspace } from "./local.ts";
import type { RunningProcess, StartCommand, Workspace } from "./workspace.ts";

const linuxOnly = { skip: process.platform !== "linux" };
let directory: string;
let workspace: Workspace;
let rounds = 0;
/** A duration no other process on the machine sleeps for: how a test knows its own. */
let duration: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "outrider-start-"));
  workspace = createLocalWorkspace({
    root: directory,
    env: { PATH: process.env["PATH"] ?? "" },
    overflowDirectory: directory,
  });
  duration = `8${process.pid}.${++rounds}`;
});

afterEach(async () => {
  await workspace.close();
  const left = sleepers();
  for (const pid of left) process.kill(pid, "SIGKILL");
  rmSync(directory, { recursive: true, force: true });
  assert.deepEqual(left, [], "close() leaves nothing alive");
});

type Heard = { program: RunningProcess; stdout: () => string; until: (text: string) => Promise<void> };

async function start(script: string, options: Partial<StartCommand> = {}): Promise<Heard> {
  let stdout = "";
  const program = await workspace.start({
    file: "bash",
    args: ["--norc", "-c", script], // bash takes an input that is a socket for somebody who logs in, and reads its ~/.bashrc
    onOutput: ({ bytes }) => {
      stdout += Buffer.from(bytes).toString("utf8");
    },
    ...options,
  });
  const until = async (text: string): Promise<void> => {
    for (let turn = 0; !stdout.includes(text); turn++) {
      assert.ok(turn < 1000, `never said ${JSON.stringify(text)}, only ${JSON.stringify(stdout)}`);
      await pause(10);
    }
  };
  return { program, stdout: () => stdout, until };
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

async function untilSleeping(count: number): Promise<void> {
  for (let turn = 0; sleepers().length < count; turn++) {
    assert.ok(turn < 500, `only ${sleepers().length} of ${count} sleepers came up`);
    await pause(10);
  }
}

/** In as many ways as there are to leave a process group and a process tree. */
const escapes = (): string =>
  [
    `sleep ${duration} &`,
    `setsid sleep ${duration} &`,
    `nohup sleep ${duration} > /dev/null 2>&1 &`,
    `(setsid bash -c 'sleep ${duration} & disown' &)`, // double fork, parent gone
    `env -i PATH="$PATH" setsid sleep ${duration} &`, // no mark, but still a child
    `bash -c 'trap "" TERM; sleep ${duration}' &`, // deaf to SIGTERM
  ].join("\n");

describe("start", () => {
  it("answers while the program lives, tells what it says as it says it, and how it ended", async () => {
    const { program, stdout, until } = await start("echo $$; read line; echo got $line; exit 7", { takesInput: true });
    await until("\n");
    assert.equal(stdout(), `${program.pid}\n`);
    assert.equal(await program.write("a word\n"), true);
    assert.deepEqual(await program.ended, { end: "exit", exitCode: 7 });
    assert.equal(stdout(), `${program.pid}\ngot a word\n`);
  });

  it("lets a program read piece by piece, and the end of its input", async () => {
    const { program, until } = await start('while read -r line; do echo "<$line>"; done; echo no more', { takesInput: true });
    await program.write("one\n");
    await until("<one>");
    await program.write(new TextEncoder().encode("zwö\n"));
    await until("<zwö>");
    program.endInput();
    assert.deepEqual(await program.ended, { end: "exit", exitCode: 0 });
  });

  it("gives a program that was promised no input an empty one", async () => {
    const { program, stdout } = await start("cat; echo end");
    assert.equal(await program.write("x"), false);
    assert.deepEqual([await program.ended, stdout()], [{ end: "exit", exitCode: 0 }, "end\n"]);
  });

  it("says so when a program reads no more, and goes on", async () => {
    const { program, until } = await start("exec 0<&-; echo closed; sleep 0.2; echo still here", { takesInput: true });
    await until("closed");
    assert.equal(await program.write("x".repeat(1_000_000)), false);
    await until("still here");
    assert.deepEqual(await program.ended, { end: "exit", exitCode: 0 });
    assert.equal(await program.write("too late"), false);
  });

  it("does not wait for ever for a program to read: what is being written is given up when it ends", async () => {
    const { program } = await start("sleep 0.2", { takesInput: true });
    assert.equal(await program.write("x".repeat(1_000_000)), false);
  });

  it("knows that a program which has closed its output still lives", async () => {
    const { program } = await start("exec 1>&- 2>&-; sleep 0.4; exit 5");
    assert.equal(await Promise.race([program.ended, pause(200, "lives")]), "lives");
    assert.deepEqual(await program.ended, { end: "exit", exitCode: 5 });
  });

  it("lets a program wait while nobody takes what it says, and loses nothing of it", async () => {
    const size = 8_000_000;
    let heard = 0;
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { program } = await start(`head -c ${size} /dev/zero; echo done > done`, {
      async onOutput({ bytes }) {
        heard += bytes.length;
        await held;
      },
    });
    await pause(300);
    assert.equal(heard <= 65_536, true, `${heard} bytes were read although the first were not taken`);
    assert.equal(readdirSync(directory).includes("done"), false);
    release();
    assert.deepEqual([await program.ended, heard], [{ end: "exit", exitCode: 0 }, size]);
  });

  it("hands everything over also when it is taken slowly and the program has long ended", async () => {
    let heard = 0;
    const { program } = await start("head -c 200000 /dev/zero", {
      async onOutput({ bytes }) {
        await pause(120);
        heard += bytes.length;
      },
    });
    assert.deepEqual([await program.ended, heard], [{ end: "exit", exitCode: 0 }, 200_000]);
  });

  it("ends a program whose output cannot be taken, and says why", async () => {
    const { program } = await start(`echo word; sleep ${duration}`, { onOutput: () => Promise.reject(new Error("disk full")) });
    await assert.rejects(program.ended, /disk full/);
    assert.deepEqual(sleepers(), []);
  });

  it("rejects with a reason when there is no such program, and starts nothing that was to be killed already", async () => {
    await assert.rejects(start("", { file: "outrider-no-such-program" }), { code: "not-found" });
    const { program } = await start("echo > was-here", { signal: AbortSignal.abort() });
    assert.deepEqual([program.pid, await program.ended], [undefined, { end: "aborted" }]);
    assert.deepEqual(readdirSync(directory), []);
  });
});

describe("kill", () => {
  it("ends everything the program started, wherever it went", linuxOnly, async () => {
    const { program } = await start(`${escapes()}\nwait`);
    await untilSleeping(6);
    const began = performance.now();
    await program.kill();
    assert.deepEqual([sleepers(), await program.ended], [[], { end: "aborted" }]);
    assert.ok(performance.now() - began < 2_000);
  });

  it("is also what an aborted signal does", linuxOnly, async () => {
    const stop = new AbortController();
    const { program } = await start(`${escapes()}\nwait`, { signal: stop.signal });
    await untilSleeping(6);
    stop.abort();
    assert.deepEqual(await program.ended, { end: "aborted" });
    assert.deepEqual(sleepers(), []);
  });

  it("also ends what a program left behind that has ended long ago", linuxOnly, async () => {
    const { program } = await start(escapes().split("\n").slice(0, 4).join("\n"));
    assert.deepEqual(await program.ended, { end: "exit", exitCode: 0 });
    await untilSleeping(4);
    await program.kill();
    assert.deepEqual([sleepers(), await program.ended], [[], { end: "exit", exitCode: 0 }]);
  });

  it("can be called again and by many", linuxOnly, async () => {
    const { program } = await start(`sleep ${duration}`);
    await untilSleeping(1);
    await Promise.all([program.kill(), program.kill(), workspace.close()]);
    await program.kill();
    assert.deepEqual([sleepers(), await program.ended], [[], { end: "aborted" }]);
  });

  it("leaves the others of the workspace alone", linuxOnly, async () => {
    const other = await start(`sleep ${duration}`);
    const { program } = await start(`sleep ${duration} & wait`);
    await untilSleeping(2);
    await program.kill();
    assert.equal(sleepers().length, 1);
    await other.program.kill();
  });
});

describe("the end of a workspace", () => {
  it("is that of everything that was started in it, and nothing is started any more", linuxOnly, async () => {
    const programs = await Promise.all([1, 2, 3].map(() => start(`${escapes()}\nwait`)));
    await untilSleeping(18);
    await workspace.close();
    assert.deepEqual(sleepers(), []);
    for (const { program } of programs) assert.deepEqual(await program.ended, { end: "aborted" });
    await assert.rejects(start("true"), { code: "closed" });
  });

  it("is that of its other roots, which have processes of their own", linuxOnly, async () => {
    const other = await workspace.at(directory);
    const third = await workspace.at(directory);
    const program = await other.start({ file: "sleep", args: [duration] });
    await third.start({ file: "sleep", args: [duration] });
    await other.close();
    assert.deepEqual([await program.ended, sleepers().length], [{ end: "aborted" }, 1]);
    await workspace.close();
    assert.deepEqual(sleepers(), []);
  });

  it("comes without open files being left", linuxOnly, async () => {
    const open = (): number => readdirSync("/proc/self/fd").length;
    await (await start("true")).program.ended;
    const before = open();
    for (let round = 0; round < 5; round++) {
      const { program } = await start("cat", { takesInput: true });
      await program.write("x");
      if (round % 2) await program.kill();
      else program.endInput();
      await program.ended;
    }
    await pause(50);
    assert.equal(open(), before);
  });
});

describe("a workspace that is closed while it starts programs", linuxOnly, () => {
  it("ends them, and does not say that a program had left them behind", async () => {
    const options = { root: directory, env: { PATH: process.env["PATH"] ?? "" }, overflowDirectory: directory };
    for (let turns = 0; turns < 4; turns++) {
      const closing = createLocalWorkspace(options);
      await (await closing.start({ file: "true", args: [] })).ended; // the guard is there
      // Deaf, so that they live on for a while when they are told to end.
      const deaf = { file: "bash", args: ["--norc", "-c", `trap "" TERM; sleep ${duration}; sleep ${duration}`] };
      const starting = Array.from({ length: 4 }, () => closing.start(deaf));
      const ends = starting.map(async (one) => (await one).ended);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      await closing.close();
      assert.deepEqual(closing.stopped?.(), []);
      for (const end of await Promise.allSettled(ends)) if (end.status === "fulfilled") assert.equal(end.value.end, "aborted");
    }
  });
});
