import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createFileStore } from "../../journal/file-store.ts";
import { createScriptedProvider, type ScriptedReply } from "../../model/scripted.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";

const top = mkdtempSync(join(tmpdir(), "outrider-processes-"));
after(() => rmSync(top, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => mkdtempSync(join(top, `${++folders}-`));

const call = (name: string, input: Record<string, unknown>): ScriptedReply => ({ calls: [{ name, input }] });
const start = (command: string, more: object = {}): ScriptedReply =>
  call("Bash", { command, run_in_background: true, description: "run", ...more });
const output = (more: object = {}): ScriptedReply => call("TaskOutput", { task_id: "process_1", ...more });
const done: ScriptedReply = { text: "Done." };

async function open(replies: ScriptedReply[], options: Partial<SessionOptions> = {}) {
  const provider = createScriptedProvider(replies);
  const cwd = options.cwd ?? newFolder();
  const session = new InteractiveSession({ cwd, provider, allowedTools: ["Bash"], ...options });
  after(() => session.shutdown());
  const events: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of session.events({ capacity: 10_000 })) events.push(event);
  })();
  reading.catch(() => {});
  const types = (): string[] =>
    events.map(({ type }) => type).filter((type) => type.startsWith("background.") && type !== "background.delta");
  return { session, provider, events, types, cwd };
}

/** What the model read last. */
function results(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "tool.ended" ? [event.result.content.map((part) => (part.type === "text" ? part.text : "")).join("")] : [],
  );
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe("a command in the background", () => {
  it("answers at once, is on record before it runs, and wakes the model when it ends", async () => {
    const { session, provider, events, types, cwd } = await open([
      start("while [ ! -e go ]; do sleep 0.05; done; echo out; exit 3"),
      call("Bash", { command: "touch go" }),
      done,
      { text: "I heard." },
    ]);
    await session.submit("go");
    await session.finishBackgroundTasks({ processMs: 10_000 });
    assert.deepEqual(types(), [
      "background.created",
      "background.started",
      "background.updated",
      "background.ended",
      "background.updated",
    ]);
    const ended = events.find((event) => event.type === "background.ended");
    assert.deepEqual(
      [ended?.task.status, ended?.task.result?.exitCode, ended?.task.result?.output, ended?.task.unread],
      ["failed", 3, "out\n", true],
    );
    const texts = provider.requests
      .at(-1)
      ?.messages.flatMap(({ content }) => content.flatMap((part) => (part.type === "text" ? [part.text] : [])));
    assert.match(texts?.join("\n") ?? "", /<task-id>process_1<\/task-id>[\s\S]*Background command "run" failed with exit code 3/);
    const created = events.findIndex(({ type }) => type === "background.created");
    const told = events.findLast((event) => event.type === "turn.started" || event.type === "input.added");
    assert.deepEqual(told && "tasks" in told && told.tasks, ["process_1"]);
    assert.ok(created > events.findIndex(({ type }) => type === "tool.started"));
    assert.ok(existsSync(join(cwd, "go")));
  });

  it("begins a turn of its own when nothing runs", async () => {
    const { session, events } = await open([start("sleep 0.2; echo out"), done, { text: "I heard." }]);
    assert.equal((await session.submit("go")).text, "Done.");
    assert.deepEqual(await session.finishBackgroundTasks({ processMs: 10_000 }), { stopped: [] });
    const turns = events.filter((event) => event.type === "turn.started");
    assert.deepEqual(
      turns.map(({ tasks }) => tasks),
      [undefined, ["process_1"]],
    );
    const ends = events.filter((event) => event.type === "turn.ended");
    assert.deepEqual(
      ends.map(({ outcome }) => outcome.text),
      ["Done.", "I heard."],
    );
  });

  it("is told of with the next prompt where nothing may wake the model", async () => {
    const { session, provider } = await open([start("true"), done, { text: "Second." }], { wakes: false });
    await session.submit("go");
    await session.finishBackgroundTasks({ processMs: 10_000 });
    assert.equal(provider.requests.length, 2);
    await session.submit("and now?");
    assert.match(JSON.stringify(provider.requests.at(-1)?.messages), /and now\?[\s\S]*task-notification/);
  });

  it("asks no model when somebody stops it: the next prompt tells of it", async () => {
    const { session, provider } = await open([start("sleep 300"), done, { text: "Second." }]);
    await session.submit("go");
    assert.equal(await session.stopTask("process_1"), true);
    assert.deepEqual(await session.finishBackgroundTasks({ processMs: 10_000 }), { stopped: [] });
    assert.equal(provider.requests.length, 2);
    await session.submit("and now?");
    assert.match(JSON.stringify(provider.requests.at(-1)?.messages), /and now\?[\s\S]*task-notification[\s\S]*stopped/);
  });

  it("is no reason to wait for a wake-up once the model is woken no more", { timeout: 60_000 }, async () => {
    const wakeUp = { name: "ScheduleWakeup", input: { delaySeconds: 3_000, reason: "later", prompt: "look" } };
    const lines = { command: "while :; do echo line; sleep 0.01; done", description: "lines", timeout_ms: 60_000 };
    const begin: ScriptedReply = { calls: [wakeUp, { name: "Monitor", input: lines }] };
    const heard = Array.from({ length: 300 }, () => done);
    const { session, events } = await open([begin, ...heard], { schedules: true, allowedTools: ["Bash", "Monitor"] });
    await session.submit("go");
    const { stopped } = await session.finishBackgroundTasks({ processMs: 500 });
    assert.deepEqual(stopped.map(({ kind }) => kind).sort(), ["process", "scheduled"]);
    const warnings = events.flatMap((event) => (event.type === "warning.raised" ? [event.message] : []));
    assert.match(warnings.at(-1) ?? "", /^Stopped with the run, .*scheduled_/);
  });

  const waits: readonly [string, object, RegExp][] = [
    ["its end", {}, /process_1 completed after [\d.]+ s with exit code 0\. New output:\nfirst\nsecond\nthird/],
    ["anything new", { until: "output" }, /process_1 has been running for [\d.]+ s\. New output:\nfirst$/],
    ["a line that matches", { until: "^sec.nd$" }, /has been running for [\d.]+ s\. New output:\nfirst\nsecond$/],
    ["words that are no expression", { until: "sec", filter: "sec" }, /New output:\nsecond$/],
    ["a moment", { until: "never", timeout: 100 }, /has been running for [\d.]+ s after waiting 100 ms\./],
    ["nothing", { block: false }, /has been running for/],
  ];
  for (const [what, input, expected] of waits)
    it(`can be waited for until ${what}`, { timeout: 20_000 }, async () => {
      const next = (mark: string): string => `while [ ! -e ${mark} ]; do sleep 0.02; done`;
      const command = `echo first; ${next("a")}; echo second; ${next("b")}; echo third`;
      const isToEnd = what === "its end";
      const marks = isToEnd ? "touch a b" : what.startsWith("a line") || what.startsWith("words") ? "touch a" : "true";
      const { session, events } = await open([start(command), call("Bash", { command: marks }), output(input), done]);
      await session.submit("go");
      assert.match(results(events).at(-1) ?? "", expected);
    });

  it("shows each part of its output once, and its end is not told again", async () => {
    const { session, provider, events } = await open([start("echo one"), output(), output(), done]);
    await session.submit("go");
    await session.finishBackgroundTasks();
    assert.match(results(events)[1] ?? "", /New output:\none/);
    assert.match(results(events)[2] ?? "", /It printed nothing new\./);
    assert.equal(provider.requests.length, 4);
  });

  it("reads what it is sent", async () => {
    const { session, events } = await open([
      start("read name; echo hello $name"),
      call("write_stdin", { id: "process_1", chars: "you\n" }),
      call("BashOutput", { bash_id: "process_1", block: true }),
      done,
    ]);
    await session.submit("go");
    assert.match(results(events)[2] ?? "", /hello you/);
  });

  it("is judged by what it is sent as if that had come through a pipe", async () => {
    const { session, events } = await open(
      [
        start("cat"),
        call("TaskInput", { task_id: "process_1", input: "it's\n" }),
        output({ until: "output" }),
        call("TaskInput", { task_id: "process_7", input: "touch made\n" }),
        call("KillShell", { shell_id: "process_1" }),
        done,
      ],
      { allowedTools: [] },
    );
    await session.submit("go");
    assert.match(results(events)[2] ?? "", /New output:\nit's$/);
    assert.match(results(events)[3] ?? "", /^Not permitted/); // nobody knows what it is: it may be a shell
    assert.match(results(events)[4] ?? "", /process_1 was stopped/);
    const decided = events.filter((event) => event.type === "permission.decided").map(({ effect }) => effect);
    assert.deepEqual(decided, ["allow", "allow", "allow", "deny", "allow"]);
  });

  it("passes the same judgement as any other", async () => {
    const { session, events, types } = await open([start("curl http://127.0.0.1:1"), done], { allowedTools: [] });
    await session.submit("go");
    assert.match(results(events)[0] ?? "", /^Not permitted/);
    assert.deepEqual(types(), []);
  });

  it("leaves the working directory of the conversation alone", async () => {
    const { session, events, cwd } = await open([
      start("mkdir sub; cd sub; pwd"),
      output(),
      call("Bash", { command: "pwd" }),
      done,
    ]);
    await session.submit("go");
    assert.equal(results(events)[2], cwd);
  });

  it("is known by its id, and other ids are answered with those there are", async () => {
    const { session, events } = await open([start("true"), call("TaskStop", { task_id: "process_9" }), done]);
    await session.submit("go");
    assert.match(results(events)[1] ?? "", /There is no task "process_9"\. There are: process_1 \(/);
  });

  it("is stopped after the time it was given", async () => {
    const { session, events } = await open([start("sleep 60", { timeout: 100 }), output(), done]);
    await session.submit("go");
    assert.match(results(events)[1] ?? "", /process_1 failed after [\d.]+ s: It ran for more than 100 ms/);
  });

  it("keeps secrets out of its file and out of what is told", async () => {
    const store = createFileStore(newFolder());
    const { session, events } = await open([start("echo $MY_TOKEN"), output(), done], {
      sessionStore: store,
      env: { PATH: process.env["PATH"] ?? "", MY_TOKEN: "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789" },
      passEnv: ["MY_TOKEN"],
    } as Partial<SessionOptions>);
    await session.submit("go");
    const path = session.getBackgroundTask("process_1")?.logPath ?? "";
    assert.ok(!readFileSync(path, "utf8").includes("abcdefghijklmnop"));
    assert.ok(!JSON.stringify(events).includes("abcdefghijklmnop"));
  });
});

describe("the tasks of a session", () => {
  it("end with it, every process, and each with an event", { timeout: 30_000 }, async () => {
    const command = "trap '' TERM; (setsid sleep 300 &) ; sleep 300";
    const replies = Array.from({ length: 20 }, () => start(command));
    const { session, types } = await open([...replies, done]);
    await session.submit("go");
    const pids = session.listBackgroundTasks({ status: "running" }).flatMap(({ pid }) => pid ?? []);
    assert.equal(pids.length, 16);
    assert.equal(session.listBackgroundTasks({ status: "queued" }).length, 4);
    const before = Date.now();
    await session.shutdown();
    assert.ok(Date.now() - before < 15_000, `${Date.now() - before} ms`); // they mind no signal but the last
    assert.deepEqual(pids.filter(isAlive), []);
    assert.equal(types().filter((type) => type === "background.ended").length, 20);
  });

  it("can be listed, read, sent to, stopped and forgotten by a program", async () => {
    const { session } = await open([start("cat"), done]);
    const heard: string[] = [];
    session.on("background_task_event", ({ type }) => heard.push(type));
    await session.submit("go");
    const printed = session.events({ types: ["background.delta"] })[Symbol.asyncIterator]();
    await session.sendBackgroundTask("process_1", "line 1\nline 2\n");
    await printed.next();
    const page = await session.readBackgroundTaskLog("process_1");
    assert.deepEqual([page.lines, page.nextCursor], [["[stdout] line 1", "[stdout] line 2"], { offset: 2 }]);
    await assert.rejects(session.closeBackgroundTask("process_1"), { message: "Cannot close active background task" });
    assert.equal(await session.stopTask("process_1"), true);
    assert.equal(await session.stopTask("process_1"), false);
    await session.closeBackgroundTask("process_1");
    assert.deepEqual(session.listBackgroundTasks(), []);
    assert.deepEqual([heard[0], heard.includes("background_task_cancelled")], ["background_task_created", true]);
  });

  it("of a process that is gone are stale, and the model hears of it once", async () => {
    const folder = newFolder();
    const first = await open([start("sleep 300"), done], { sessionStore: createFileStore(folder), sessionId: "s1" });
    await first.session.submit("go");
    const file = join(folder, readdirSync(folder).find((name) => name.endsWith(".jsonl")) ?? "");
    const journal = readFileSync(file, "utf8");
    await first.session.shutdown();
    // As it was when the process would have been killed.
    const crashed = newFolder();
    writeFileSync(join(crashed, "s1.jsonl"), journal);
    const resume = async (replies: ScriptedReply[]) =>
      await open(replies, { sessionStore: createFileStore(crashed), resumeSessionId: "s1", cwd: first.cwd });
    const second = await resume([{ text: "I see." }, start("true"), done, { text: "Woken." }]);
    await second.session.submit("go on");
    const stale = second.events.find((event) => event.type === "background.ended");
    assert.deepEqual([stale?.task.status, stale?.task.timeoutReason], ["failed", "stale_worker"]);
    assert.match(JSON.stringify(second.provider.requests[0]?.messages), /go on[\s\S]*worker cannot be reattached/);
    await second.session.submit("start another");
    assert.equal(second.session.listBackgroundTasks().at(-1)?.id, "process_2");
    await second.session.finishBackgroundTasks();
    await second.session.shutdown();
    const third = await resume([{ text: "Yes." }]);
    await third.session.submit("and?");
    assert.deepEqual(third.types(), []);
    const told = JSON.stringify(third.provider.requests[0]?.messages).match(/worker cannot be reattached/g);
    assert.equal(told?.length, 1);
  });
});

describe("a command that takes longer than its limit", () => {
  it("goes on in the background where the session says so, with all it printed", { timeout: 20_000 }, async () => {
    const command = "echo first; while [ ! -e go ]; do sleep 0.05; done; echo last; cat";
    const { session, events } = await open(
      [call("Bash", { command, timeout: 300 }), call("Bash", { command: "touch go" }), output(), done, done],
      { bash: { movesToBackground: true } },
    );
    await session.submit("go");
    const [moved, , shown] = results(events);
    assert.match(
      moved ?? "",
      /takes longer than 300 ms, and goes on.*\nThe command runs in the background as the task process_1/s,
    );
    assert.match(shown ?? "", /process_1 completed after .* with exit code 0\. New output:\nfirst\nlast/);
  });

  it("is ended with its task also where that still waits for others to end", { timeout: 60_000 }, async () => {
    const many = Array.from({ length: 16 }, () => start("sleep 300"));
    const slow = "echo $$ > pid; while :; do sleep 0.05; done";
    const moved = call("Bash", { command: slow, timeout: 300 });
    const { session, events, cwd } = await open([...many, moved, call("TaskStop", { task_id: "process_17" }), done], {
      bash: { movesToBackground: true },
    });
    await session.submit("go");
    assert.match(results(events).at(-2) ?? "", /goes on in the background\.\nIt is the task process_17/);
    assert.match(results(events).at(-1) ?? "", /process_17 was stopped/);
    const pid = Number(readFileSync(join(cwd, "pid"), "utf8"));
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
    await session.shutdown();
  });

  it("is as any other when it ends in time", async () => {
    const { session, events } = await open([call("Bash", { command: "cat; echo quick; exit 3" }), done], {
      bash: { movesToBackground: true },
    });
    await session.submit("go");
    assert.equal(results(events)[0], "quick\nExit code 3");
    assert.deepEqual(session.listBackgroundTasks(), []);
  });
});

describe("what is no regular expression", () => {
  it("is looked for as it is, and that is told", async () => {
    const { session, events } = await open([start("echo 'a [b'"), output({ until: "[b", timeout: 10_000 }), done]);
    await session.submit("go");
    assert.match(
      results(events)[1] ?? "",
      /^\("\[b" is no regular expression: it was looked for as it is\.\)\n.*New output:\na \[b/,
    );
  });
});

describe("the tool BackgroundProcess", () => {
  let end = (): void => {};
  const runner = {
    kind: "process" as const,
    start: ({ taskId }: { taskId: string }) => ({
      result: new Promise<{ taskId: string; kind: "process"; output: string; exitCode: number }>((resolve) => {
        end = () => resolve({ taskId, kind: "process", output: "by the program", exitCode: 0 });
      }),
      cancel: async () => {},
    }),
  };

  it("is there where the program starts processes itself, is judged as Bash is, and answers at once", async () => {
    const { session, events, provider } = await open([call("BackgroundProcess", { command: "serve" }), done, done], {
      backgroundTaskRunners: [runner],
    });
    await session.submit("go");
    end();
    await session.finishBackgroundTasks();
    const expected = { success: true, background: true, output: "", taskId: "process_1", status: "running", command: "serve" };
    assert.deepEqual(JSON.parse(results(events)[0] ?? ""), expected);
    assert.ok(provider.requests[0]?.tools.some(({ name }) => name === "BackgroundProcess"));
    assert.equal(session.getBackgroundTask("process_1")?.result?.output, "by the program");
  });

  it("is not there otherwise, and asks like Bash where no rule allows it", async () => {
    const without = await open([done]);
    await without.session.submit("go");
    assert.ok(!without.provider.requests[0]?.tools.some(({ name }) => name === "BackgroundProcess"));
    const asked = await open([call("BackgroundProcess", { command: "serve" }), done], {
      backgroundTaskRunners: [runner],
      allowedTools: [],
    });
    await asked.session.submit("go");
    assert.match(results(asked.events)[0] ?? "", /Not permitted/);
  });
});
