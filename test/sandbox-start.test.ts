import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { RunningProcess, StartCommand, Workspace } from "../packages/runtime/src/workspace/workspace.ts";
import { runIn, setUpBoxes, untilGone, whyNoSandbox } from "./support/sandbox-place.ts";

const skip = await whyNoSandbox();
let rounds = 0;

describe("a program that goes on in its box", { skip }, () => {
  const stage = setUpBoxes();
  const inProject = (name: string): string => join(stage.place.project, name);

  it("is spoken with, ends by itself, and is answered for", async () => {
    const { program, heard, until } = await start(stage.workspace, "read word; echo got $word; exit 7", { takesInput: true });
    assert.equal(await Promise.race([program.ended, pause(300, "lives")]), "lives");
    assert.equal(await program.write("hello\n"), true);
    await until("got hello");
    assert.deepEqual([await program.ended, heard()], [{ end: "exit", exitCode: 7 }, "got hello\n"]);
    assert.equal(await program.write("more"), false);
  });

  it("does not keep commands from running beside it", async () => {
    const { program } = await start(stage.workspace, "sleep 60");
    assert.deepEqual(await stage.sh("echo fine > b.txt; cat b.txt"), { result: { end: "exit", exitCode: 0 }, output: "fine\n" });
    await program.kill();
    assert.deepEqual(await program.ended, { end: "aborted" });
  });

  it("is gone with everything it started when it is killed, and when the workspace closes", async () => {
    const duration = `7${process.pid}.${++rounds}`;
    const script = [
      `sleep ${duration} &`,
      `setsid sleep ${duration} &`,
      `(setsid bash -c 'sleep ${duration} & disown' &)`,
      `env -i PATH="$PATH" setsid sleep ${duration} &`,
      `bash -c 'trap "" TERM; sleep ${duration}' &`,
      "echo up; wait",
    ].join("\n");
    const first = await start(stage.workspace, script);
    await first.until("up");
    await first.program.kill();
    await untilGone(duration);
    const second = await start(stage.workspace, script);
    await second.until("up");
    await stage.workspace.close();
    await untilGone(duration);
    assert.deepEqual(await second.program.ended, { end: "aborted" });
  });

  it("is told why it cannot be started", async () => {
    await assert.rejects(start(stage.workspace, "true", { cwd: "/no/such/folder" }), { code: "config" });
  });

  it("is ended when it touches what is protected", async () => {
    const { program, heard } = await start(stage.workspace, "echo {} > .mcp.json; sleep 60");
    assert.deepEqual(await program.ended, { end: "exit", exitCode: 126 });
    assert.match(heard(), /\.mcp\.json/);
    assert.equal(existsSync(inProject(".mcp.json")), false);
  });

  it("has what it planted taken away when a command beside it ends, which is not blamed", async () => {
    const { program, until } = await start(stage.workspace, `${plantRepository}; echo planted; sleep 60`);
    await until("planted");
    const { result, output } = await stage.sh("true");
    assert.deepEqual(result, { end: "exit", exitCode: 0 });
    assert.match(output, /pre-commit/);
    assert.equal(existsSync(inProject("sub/.git/hooks/pre-commit")), false);
    await program.kill();
  });

  it("has what it planted taken away before anything runs outside", async () => {
    const workspace = await stage.open({ mode: "auto" });
    const { program, until } = await start(workspace, `${plantRepository}; echo planted; sleep 60`);
    await until("planted");
    await runIn(workspace, "cd sub && git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m one", {
      place: "outside",
    });
    assert.equal(existsSync(join(stage.place.outside, "ran")), false);
    assert.equal(existsSync(inProject("ran")), false);
    await until("pre-commit");
    await program.kill();
  });

  it("is judged by its own box, not by one of a later command", async () => {
    // A repository that came to be while it runs is protected for commands that start now, and not for it.
    const { program, until } = await start(
      stage.workspace,
      `echo up; until [ -e go ]; do sleep 0.05; done; mkdir -p late/.git/hooks; printf '#!/bin/sh\\ntouch ../ran\\n' > late/.git/hooks/pre-commit; chmod +x late/.git/hooks/pre-commit; echo planted; sleep 60`,
    );
    await until("up");
    mkdirSync(inProject("late"));
    await runIn(stage.workspace, "git init -q late", { unboxed: true });
    await stage.sh("touch go");
    await until("planted");
    await stage.sh("true");
    assert.deepEqual(
      readdirSync(inProject("late/.git/hooks")).filter((name) => !name.endsWith(".sample")),
      [],
    );
    await program.kill();
  });

  it("leaves nothing of its box behind", async () => {
    const mounts = readFileSync("/proc/self/mountinfo", "utf8");
    const { program } = await start(stage.workspace, "sleep 60");
    await program.kill();
    await stage.workspace.close();
    assert.equal(readFileSync("/proc/self/mountinfo", "utf8"), mounts);
    assert.equal(existsSync(join(stage.place.overflow, "sandbox/tmp")), false);
  });
});

const plantRepository = [
  "git init -q sub",
  "printf '#!/bin/sh\\ntouch ../ran\\n' > sub/.git/hooks/pre-commit",
  "chmod +x sub/.git/hooks/pre-commit",
].join("; ");

type Heard = { program: RunningProcess; heard: () => string; until: (text: string) => Promise<void> };

async function start(workspace: Workspace, script: string, options: Partial<StartCommand> = {}): Promise<Heard> {
  let text = "";
  const program = await workspace.start({
    file: "bash",
    args: ["--norc", "-c", `exec 2>&1\n${script}`],
    onOutput: ({ bytes }) => {
      text += Buffer.from(bytes).toString("utf8");
    },
    ...options,
  });
  const until = async (words: string): Promise<void> => {
    for (let turn = 0; !text.includes(words); turn++) {
      assert.ok(turn < 1000, `never said ${JSON.stringify(words)}, only ${JSON.stringify(text)}`);
      await pause(10);
    }
  };
  return { program, heard: () => text, until };
}
