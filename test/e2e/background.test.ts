import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { eventually, lines, model, processesWith, run, start, tempFolder } from "./command.ts";

const bash = (command: string) => ({ name: "Bash", input: { command, description: "run", run_in_background: true } });
/** Seconds that nobody else sleeps for. */
let rounds = 0;
const newMark = (): string => `9${process.pid}.${++rounds}`;

async function place(replies: Parameters<typeof model>[0]) {
  const folder = tempFolder("background");
  const cwd = join(folder, "work");
  mkdirSync(cwd);
  const { env, server } = await model(replies, join(folder, "home"));
  return { cwd, env, server, home: join(folder, "home") };
}

/** Whether the first turn of its only session has its answer. */
function hasEnded(home: string): boolean {
  const files = readdirSync(home, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
  return files.some((name) => readFileSync(join(home, name), "utf8").includes('"type":"turn.ended"'));
}

const allowed = ["--allowedTools", "Bash"];
const kindOf = (frame: Record<string, unknown>): string =>
  [frame["type"], frame["subtype"]].filter((word) => word !== undefined).join("/");

describe("a run with commands in the background", () => {
  it("has a result for its prompt and one for each turn that an end begins, with the frames of Claude Code", async () => {
    const at = await place([
      {
        calls: [
          bash("while [ ! -e a ]; do sleep 0.05; done; echo a2"),
          bash("while [ ! -e b ]; do sleep 0.05; done; echo b2; exit 3"),
        ],
      },
      { text: "main done" },
      { calls: [{ name: "Bash", input: { command: "touch b" } }] },
      { text: "n1" },
      { text: "n2" },
    ]);
    const words = ["go", ...allowed, "--output-format", "stream-json", "--background-wait", "20s"];
    const { child, done } = start(words, at);
    let said = "";
    child.stdout.on("data", (text: string) => {
      said += text;
    });
    await eventually(() => said.includes('"result":"main done"'), "the first result");
    assert.equal(at.server.requests.length, 2);
    writeFileSync(join(at.cwd, "a"), "");
    const ended = await done;
    assert.equal(ended.code, 0, ended.stderr);
    const frames = lines(ended.stdout);
    const first = frames.findIndex(({ type }) => type === "result");
    assert.deepEqual(frames.slice(0, first + 1).map(kindOf), [
      "system/init",
      "assistant",
      "assistant",
      "system/background_tasks_changed",
      "system/task_started",
      "user",
      "system/background_tasks_changed",
      "system/task_started",
      "user",
      "assistant",
      "result/success",
    ]);
    const started = frames.find(({ subtype }) => subtype === "task_started");
    assert.deepEqual(
      [started?.["is_backgrounded"], started?.["task_type"], started?.["description"], started?.["task_id"]],
      [true, "local_bash", "run", "process_1"],
    );
    const ids = frames
      .filter(({ subtype }) => subtype === "background_tasks_changed")
      .map(({ tasks }) => (tasks as { task_id: string }[]).map(({ task_id }) => task_id));
    assert.deepEqual(ids, [["process_1"], ["process_1", "process_2"], ["process_2"], []]);
    const result = frames.find(({ type }) => type === "user")?.["tool_use_result"] as Record<string, unknown>;
    assert.deepEqual([result["stdout"], result["backgroundTaskId"]], ["", "process_1"]);
    const told = frames.filter(({ subtype }) => subtype === "task_notification");
    assert.deepEqual(
      told.map(({ status, summary }) => [status, summary]),
      [
        ["completed", 'Background command "run" completed (exit code 0)'],
        ["failed", 'Background command "run" failed with exit code 3'],
      ],
    );
    assert.equal(readFileSync(String(told[1]?.["output_file"]), "utf8"), "b2\n\n[exited with code 3]\n");
    const results = frames.filter(({ type }) => type === "result");
    assert.deepEqual(results[0]?.["origin"], undefined);
    const runId = started?.["run_id"];
    assert.deepEqual(results[1]?.["origin"], {
      kind: "task-notification",
      producer: "session-task",
      runId,
      task_ids: ["process_1"],
    });
    assert.deepEqual(
      results.map(({ result_index }) => result_index),
      results.map((_, index) => index),
    );
    assert.equal(frames.at(-1)?.["type"], "result");
  });

  for (const format of ["text", "json", "stream-json"])
    it(`stops what does not end at the ceiling, and says so: ${format}`, async () => {
      const mark = newMark();
      const at = await place([{ calls: [bash(`sleep ${mark}`)] }, { text: "Done." }]);
      const ended = await run(["go", ...allowed, "--output-format", format, "--background-wait", "300ms"], at);
      assert.equal(ended.code, 0, ended.stderr);
      assert.deepEqual(processesWith(`sleep\0${mark}`), []);
      const words = new RegExp(`Stopped with the run, 0.3 s after its last answer: process_1 \\(sleep ${mark}\\)`);
      if (format === "text") {
        assert.equal(ended.stdout, "Done.\n");
        return assert.match(ended.stderr, words);
      }
      const results = lines(ended.stdout).filter(({ type }) => type === "result");
      assert.equal(results.length, 1);
      // In a stream the result is out already when the wait begins.
      const told = format === "json" ? results : lines(ended.stdout).filter(({ subtype }) => subtype === "warning");
      assert.match(JSON.stringify(told), words);
      assert.equal(results.at(-1)?.["result"], "Done.");
      if (format === "json") return;
      const { patch } = lines(ended.stdout).find(({ subtype }) => subtype === "task_updated") as { patch?: { status: string } };
      assert.equal(patch?.status, "killed", "the word of the SDK's types");
    });

  it("TaskOutput waits for the end, and BashOutput, as it is called elsewhere, answers at once", async () => {
    const looks = [
      { name: "BashOutput", input: { bash_id: "process_1" } },
      { name: "TaskOutput", input: { task_id: "process_1" } },
    ];
    const at = await place([
      { calls: [bash("echo begun; until [ -e seen ]; do sleep 0.05; done; echo ended")] },
      { calls: looks.slice(0, 1) },
      { calls: [{ name: "Bash", input: { command: "touch seen" } }] },
      { calls: looks.slice(1) },
      { text: "Done." },
      { text: "Done." },
    ]);
    const ended = await run(["go", ...allowed, "--output-format", "stream-json"], at);
    assert.equal(ended.code, 0, ended.stderr);
    const said = lines(ended.stdout).flatMap((frame) => (frame["type"] === "user" ? [JSON.stringify(frame["message"])] : []));
    assert.match(said[1] ?? "", /still runs|running/i);
    assert.match(said[3] ?? "", /ended/);
  });

  it("writes one result in json: that of the last turn", async () => {
    const at = await place([{ calls: [bash("true")] }, { text: "first" }, { text: "last" }, { text: "last" }]);
    const ended = await run(["go", ...allowed, "--output-format", "json"], at);
    assert.equal(ended.code, 0, ended.stderr);
    const results = lines(ended.stdout);
    assert.equal(results.length, 1);
  });

  it("ends at once when it is told to, with nothing left", async () => {
    const mark = newMark();
    const at = await place([{ calls: [bash(`sleep ${mark}`)] }, { text: "Done." }]);
    const { child, done } = start(["go", ...allowed, "--output-format", "json", "--background-wait", "10m"], at);
    await eventually(() => processesWith(`sleep\0${mark}`).length > 0 && hasEnded(at.home), "it waits");
    child.kill("SIGTERM");
    const ended = await done;
    assert.equal(ended.code, 124, ended.stderr);
    assert.deepEqual(processesWith(`sleep\0${mark}`), []);
    const [result] = lines(ended.stdout);
    assert.deepEqual([result?.["result"], result?.["terminal_reason"]], ["Done.", "cancelled_signal"]);
    assert.match(JSON.stringify(result?.["warnings"]), new RegExp(`Stopped with the run, .*: process_1 \\(sleep ${mark}\\)`));
  });

  it("of a host has a result for the turn that an end begins", async () => {
    const at = await place([{ calls: [bash("sleep 0.3; echo x")] }, { text: "main" }, { text: "woken" }]);
    const stdin = `${JSON.stringify({ type: "user", message: { role: "user", content: "go" } })}\n`;
    const words = [
      "-p",
      "--input-format",
      "stream-json",
      "--output-format",
      "stream-json",
      ...allowed,
      "--background-wait",
      "20s",
    ];
    const ended = await run(words, { ...at, stdin });
    assert.equal(ended.code, 0, ended.stderr);
    const results = lines(ended.stdout).filter(({ type }) => type === "result");
    assert.deepEqual(
      results.map(({ result }) => result),
      ["main", "woken"],
    );
  });

  it("tells robota's readers in robota's words", async () => {
    const at = await place([{ calls: [bash("echo hi")] }, { text: "main" }, { text: "woken" }]);
    const words = ["go", ...allowed, "--output-format", "stream-json", "--flavor", "robota", "--background-wait", "20s"];
    const ended = await run(words, at);
    const events = lines(ended.stdout).flatMap(({ event }) => {
      const inner = event as { type?: string; background_task_event?: { type: string } } | undefined;
      return inner?.type === "background_task_event" ? [inner.background_task_event?.type] : [];
    });
    assert.deepEqual(
      events.filter((type) => type !== "background_task_text_delta"),
      [
        "background_task_created",
        "background_task_started",
        "background_task_updated",
        "background_task_completed",
        "background_task_updated",
      ],
    );
    assert.equal(lines(ended.stdout).at(-1)?.["type"], "result");
  });

  it("can be looked at later", async () => {
    const at = await place([{ calls: [bash("echo hello; exit 3")] }, { text: "main" }, { text: "woken" }]);
    const words = ["go", ...allowed, "--output-format", "stream-json", "--background-wait", "20s"];
    const ended = await run(words, at);
    const session = String(lines(ended.stdout)[0]?.["session_id"]);
    const list = await run(["tasks", session], at);
    assert.match(list.stdout, /^process_1 {2}failed, exit code 3, [\d.]+ s {2}echo hello; exit 3\n$/);
    const shown = await run(["tasks", session.slice(0, 8), "process_1"], at);
    assert.equal(shown.stdout, "hello\n\n[exited with code 3]\n");
    const none = await run(["tasks", session, "process_9"], at);
    assert.deepEqual([none.code, none.stdout], [66, ""]);
    await run(["sessions", "rm", session, "--yes"], at);
    const told = lines(ended.stdout).find(({ subtype }) => subtype === "task_notification");
    assert.equal(existsSync(String(told?.["output_file"])), false);
  });
});
