import assert from "node:assert/strict";
import { describe, it } from "node:test";
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
    onOutput: ({ stream, bytes }) => heard.push(`${stream} ${new TextDecoder().decode(bytes)}`),
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

const nothing = { exitCode: 0, stdout: "", stderr: "" };
