import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createClientWorkspace } from "./client-workspace.ts";
import { InMemorySandboxClient } from "./memory-sandbox.ts";
import type { SandboxClient } from "./sandbox-client.ts";
import type { RunCommand } from "./workspace.ts";

async function run(client: SandboxClient, more: Partial<RunCommand> = {}) {
  const heard: string[] = [];
  const workspace = createClientWorkspace({ client, root: "/workspace" });
  const result = await workspace.run({
    file: "make",
    args: ["it"],
    cwd: "/workspace",
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    onOutput: ({ stream, bytes }) => void heard.push(`${stream} ${new TextDecoder().decode(bytes)}`),
    ...more,
  });
  await workspace.close();
  return { result, heard };
}

describe("a command on another machine", () => {
  it("tells what it said, once, whether it came in pieces or whole", async () => {
    const whole = new InMemorySandboxClient({ run: () => ({ exitCode: 3, stdout: "out", stderr: "err" }) });
    assert.deepEqual(await run(whole), { result: { end: "exit", exitCode: 3 }, heard: ["stdout out", "stderr err"] });
    const pieces = new InMemorySandboxClient({
      run: (_, { onStdout }) => {
        onStdout?.("o");
        onStdout?.("ut");
        return { exitCode: 0, stdout: "out", stderr: "" };
      },
    });
    assert.deepEqual((await run(pieces)).heard, ["stdout o", "stdout ut"]);
  });

  it("does not hold us when the machine cannot end it", async () => {
    const deaf = new InMemorySandboxClient({ run: (command) => (command.includes("make") ? new Promise(() => {}) : nothing) });
    assert.deepEqual((await run(deaf, { timeoutMs: 20 })).result, { end: "timeout" });
    const controller = new AbortController();
    const stopped = run(deaf, { signal: controller.signal });
    setImmediate(() => controller.abort());
    assert.deepEqual((await stopped).result, { end: "aborted" });
  });

  it("that ends because it was told to is one that was stopped", async () => {
    const obedient = new InMemorySandboxClient({
      run: (command, { signal }) =>
        command.includes("make")
          ? new Promise((resolve) =>
              signal?.addEventListener("abort", () => resolve({ exitCode: 137, stdout: "late", stderr: "" })),
            )
          : nothing,
    });
    assert.deepEqual(await run(obedient, { timeoutMs: 20 }), { result: { end: "timeout" }, heard: [] });
  });

  it("is one that was stopped also where the machine's answer comes first", async () => {
    const client: SandboxClient = {
      run: (_, { signal } = {}) =>
        new Promise((resolve) => signal?.addEventListener("abort", () => resolve({ exitCode: 0, stdout: "late", stderr: "" }))),
      readFile: () => Promise.reject(new Error("no such file")),
      writeFile: async () => {},
    };
    assert.deepEqual(await run(client, { timeoutMs: 20 }), { result: { end: "timeout" }, heard: [] });
  });

  it("that cannot be run says why", async () => {
    const broken = new InMemorySandboxClient({
      run: (command) => (command.includes("make") ? Promise.reject(new Error("the machine is gone")) : nothing),
    });
    await assert.rejects(run(broken), { code: "usage", message: /could not run the command: the machine is gone/ });
  });
});

/** A machine with a real shell whose client kills nothing but the command itself. */
function createShellClient(): SandboxClient {
  const env = { PATH: process.env["PATH"] ?? "" };
  return {
    run: (command) =>
      new Promise((resolve) => {
        execFile("sh", ["-c", command], { env }, (error, stdout, stderr) => resolve({ exitCode: error ? 1 : 0, stdout, stderr }));
      }),
    async start(command, options) {
      const child = spawn("sh", ["-c", `exec ${command}`], { env: { ...env, ...options.env }, stdio: "pipe" });
      child.stdin.on("error", () => {});
      child.stdout.setEncoding("utf8").on("data", (text: string) => options.onStdout?.(text));
      return {
        pid: child.pid,
        ended: new Promise((resolve) => child.once("close", (code) => resolve({ exitCode: code ?? 137 }))),
        write: (text) =>
          new Promise((resolve, reject) => child.stdin.write(text, (error) => (error ? reject(error) : resolve()))),
        endInput: async () => void child.stdin.end(),
        kill: async () => void child.kill("SIGKILL"),
      };
    },
    readFile: () => Promise.reject(new Error("no such file")),
    writeFile: async () => {},
  };
}

function sleepers(duration: string): number {
  return readdirSync("/proc").filter((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, "latin1") === `sleep\0${duration}\0`;
    } catch {
      return false;
    }
  }).length;
}

describe("a program that goes on, on another machine", { skip: process.platform !== "linux" }, () => {
  const start = (client: SandboxClient, script: string, heard: string[] = []) => {
    const workspace = createClientWorkspace({ client, root: "/" });
    const onOutput = async ({ bytes }: { bytes: Uint8Array }): Promise<void> => {
      await pause(20);
      heard.push(new TextDecoder().decode(bytes));
    };
    const args = ["--norc", "-c", script];
    return { workspace, started: workspace.start({ file: "bash", args, takesInput: true, onOutput }) };
  };

  it("is spoken with and tells how it ended", async () => {
    const heard: string[] = [];
    const { started } = start(createShellClient(), "read a; echo got $a; cat > /dev/null; echo no more; exit 3", heard);
    const program = await started;
    assert.equal(await program.write("this\n"), true);
    program.endInput();
    assert.deepEqual([await program.ended, heard.join("")], [{ end: "exit", exitCode: 3 }, "got this\nno more\n"]);
    assert.equal(await program.write("more"), false);
  });

  it("is killed with everything it started, by itself and with its workspace", async () => {
    const duration = `6${process.pid}.1`;
    const script = `sleep ${duration} & setsid sleep ${duration} & (setsid bash -c 'sleep ${duration} & disown' &); wait`;
    const untilSleeping = async (): Promise<void> => {
      for (let turn = 0; sleepers(duration) < 3 && turn < 500; turn++) await pause(10);
    };
    const first = await start(createShellClient(), script).started;
    await untilSleeping();
    await first.kill();
    assert.deepEqual([sleepers(duration), await first.ended], [0, { end: "aborted" }]);
    const { workspace, started } = start(createShellClient(), script);
    const second = await started;
    await untilSleeping();
    await workspace.close();
    assert.deepEqual([sleepers(duration), await second.ended], [0, { end: "aborted" }]);
  });

  it("is refused in clear words where the machine has none", async () => {
    await assert.rejects(start(new InMemorySandboxClient(), "true").started, {
      code: "usage",
      message: /only runs commands to their end/,
    });
  });
});

it("a machine elsewhere has more than one root, too", async () => {
  const client = new InMemorySandboxClient({ files: { "/workspace/a": "one", "/second/a": "two" } });
  const second = await createClientWorkspace({ client }).at("/second");
  assert.deepEqual([second.root, new TextDecoder().decode(await second.readFile("a"))], ["/second", "two"]);
});

const nothing = { exitCode: 0, stdout: "", stderr: "" };
