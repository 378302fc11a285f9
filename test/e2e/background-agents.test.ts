import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ServerReply } from "../../packages/runtime/src/testing/model-server.ts";
import { eventually, lines, model, run, start, tempFolder } from "./command.ts";

type Parts = { readonly parent: readonly ServerReply[]; readonly child: readonly ServerReply[] };

/** A model that plays the session and its agents, each from a script of its own. */
async function place({ parent, child }: Parts) {
  const folder = tempFolder("background-agents");
  const cwd = join(folder, "work");
  mkdirSync(join(cwd), { recursive: true });
  const left = { parent: [...parent], child: [...child] };
  const replies = ({ body }: { readonly body: unknown }): ServerReply => {
    const isParent = (body as { tools?: { name: string }[] }).tools?.some(({ name }) => name === "Task") ?? false;
    return left[isParent ? "parent" : "child"].shift() ?? { status: 400 };
  };
  const { env, server } = await model(replies, join(folder, "home"));
  return { cwd, env, server };
}

const agents = JSON.stringify({ helper: { description: "Helps.", prompt: "You help.", tools: ["Bash", "Read", "Write"] } });
const launch = (more: object = {}): ServerReply => ({
  text: "launch",
  calls: [
    {
      name: "Agent",
      input: { description: "job helper", prompt: "sub", subagent_type: "helper", run_in_background: true, ...more },
    },
  ],
});
const kindOf = (frame: Record<string, unknown>): string => {
  const who = typeof frame["parent_tool_use_id"] === "string" ? "sub " : "";
  return who + [frame["type"], frame["subtype"]].filter((word) => word !== undefined).join("/");
};
const untilGo: ServerReply = {
  calls: [{ name: "Bash", input: { command: "while [ ! -e go ]; do sleep 0.05; done; echo in-sub" } }],
};
const flags = ["go", "--agents", agents, "--allowedTools", "Bash", "--output-format", "stream-json"];

describe("a run with an agent in the background", () => {
  it("has the frames and the two results of the recorded one, which come together", async () => {
    const at = await place({
      parent: [launch(), { text: "main done" }, { text: "after notification" }],
      child: [untilGo, { text: "sub answer" }],
    });
    const { child, done } = start([...flags, "--background-wait", "30s"], at);
    let said = "";
    child.stdout.on("data", (text: string) => {
      said += text;
    });
    await eventually(() => said.includes("main done") && said.includes("task_progress"), "the answer of the prompt's turn");
    assert.doesNotMatch(said, /"type":"result"/);
    writeFileSync(join(at.cwd, "go"), "");
    const ended = await done;
    assert.equal(ended.code, 0, ended.stderr);
    const frames = lines(ended.stdout).filter(({ subtype }) => subtype !== "warning");
    const kinds = frames.map(kindOf);
    // The conversation and the agent go on beside each other: each has its own order.
    const ofAgent = (kind: string): boolean => kind.startsWith("sub ") || /task_/.test(kind);
    assert.deepEqual(
      kinds.filter((kind) => !ofAgent(kind)),
      [
        "system/init",
        "assistant",
        "assistant",
        "system/background_tasks_changed",
        "user",
        "assistant",
        "system/background_tasks_changed",
        "system/init",
        "assistant",
        "result/success",
        "result/success",
      ],
    );
    assert.deepEqual(kinds.filter(ofAgent), [
      "system/task_started",
      "sub assistant",
      "system/task_progress",
      "sub user",
      "sub assistant",
      "system/task_updated",
      "system/task_notification",
    ]);
    const by = (subtype: string): Record<string, unknown> => frames.find((frame) => frame["subtype"] === subtype) ?? {};
    const started = by("task_started");
    const ids = { task_id: started["task_id"], run_id: started["run_id"] };
    assert.deepEqual(
      [started["is_backgrounded"], started["spawn_depth"], started["task_type"], started["subagent_type"], started["task_id"]],
      [true, 1, "local_agent", "helper", "agent_1"],
    );
    assert.match(String(started["run_id"]), /^[0-9a-z]{9}-[0-9a-f]{8}$/);
    assert.deepEqual(by("background_tasks_changed")["tasks"], [
      { ...ids, task_type: "local_agent", subagent_type: "helper", description: "job helper" },
    ]);
    for (const subtype of ["task_progress", "task_updated", "task_notification"]) assert.equal(by(subtype)["run_id"], ids.run_id);
    const told = by("task_notification");
    assert.deepEqual([told["status"], told["summary"]], ["completed", "sub answer"]);
    assert.match(readFileSync(String(told["output_file"]), "utf8"), /> Bash while[\s\S]*sub answer\n\n\[completed\]\n$/);
    const result = frames.find((frame) => kindOf(frame) === "user")?.["tool_use_result"] as Record<string, unknown>;
    assert.deepEqual(
      [result["isAsync"], result["status"], result["agentId"], result["prompt"], result["outputFile"]],
      [true, "async_launched", "agent_1", "sub", told["output_file"]],
    );
    const results = frames.filter(({ type }) => type === "result");
    assert.deepEqual(
      results.map((frame) => [frame["result"], frame["result_index"], frame["origin"]]),
      [
        ["main done", 0, undefined],
        [
          "after notification",
          1,
          { kind: "task-notification", producer: "session-task", runId: ids.run_id, task_ids: ["agent_1"] },
        ],
      ],
    );
    const stats = (results[1]?.["subagent_stats"] ?? {}) as Record<string, unknown>;
    const { spawned, requested, started_in_background, completed, by_type } = stats;
    assert.deepEqual(
      { spawned, requested, started_in_background, completed, by_type },
      {
        spawned: 1,
        requested: { background: 1, foreground: 0, unset: 0 },
        started_in_background: 1,
        completed: 1,
        by_type: { helper: 1 },
      },
    );
  });

  it("ends at the ceiling with what was stopped in its result", async () => {
    const at = await place({ parent: [launch(), { text: "main done" }], child: [untilGo] });
    const ended = await run([...flags, "--background-wait", "300ms"], at);
    assert.equal(ended.code, 0, ended.stderr);
    const results = lines(ended.stdout).filter(({ type }) => type === "result");
    assert.deepEqual(
      results.map(({ result, result_index }) => [result, result_index]),
      [["main done", 0]],
    );
    assert.match(
      JSON.stringify(results.at(-1)?.["warnings"]),
      /Stopped with the run, 0.3 s after its last answer: agent_1 \(job helper\)/,
    );
    const stats = results.at(-1)?.["subagent_stats"] as { killed: unknown };
    assert.deepEqual(stats.killed, { parent: 0, user: 0, system: 1 });
  });

  it("that a signal ends while it waits has one result, which says so", async () => {
    const at = await place({ parent: [launch(), { text: "main done" }], child: [untilGo] });
    const { child, done } = start([...flags, "--background-wait", "10m"], at);
    let said = "";
    child.stdout.on("data", (text: string) => {
      said += text;
    });
    await eventually(() => said.includes("main done") && said.includes("task_progress"), "it waits");
    child.kill("SIGTERM");
    const ended = await done;
    assert.equal(ended.code, 124, ended.stderr);
    const results = lines(ended.stdout).filter(({ type }) => type === "result");
    assert.deepEqual(
      results.map(({ subtype, result, terminal_reason }) => [subtype, result, terminal_reason]),
      [["error_during_execution", "main done", "cancelled_signal"]],
    );
    assert.match(JSON.stringify(results[0]?.["warnings"]), /Stopped with the run, .*: agent_1 \(job helper\)/);
  });
});

describe("a host of a live session", () => {
  it("is asked for permission by an agent whose turn is over, and its yes counts", async () => {
    const write: ServerReply = { calls: [{ name: "Write", input: { file_path: "made.txt", content: "x" } }] };
    const at = await place({
      parent: [launch(), { text: "main done" }, { text: "after notification" }],
      child: [untilGo, write, { text: "written" }],
    });
    const words = ["--input-format", "stream-json", "--output-format", "stream-json", "--permission-prompt-tool", "stdio"];
    const { child, done } = start([...words, "--agents", agents, "--allowedTools", "Bash"], { ...at, stdin: "open" });
    let said = "";
    child.stdout.on("data", (text: string) => {
      said += text;
    });
    child.stdin.write(`${JSON.stringify({ type: "user", message: { role: "user", content: "go" } })}\n`);
    await eventually(() => said.includes('"result":"main done"'), "the first result");
    writeFileSync(join(at.cwd, "go"), "");
    const asked = (): Record<string, unknown> | undefined =>
      lines(said.slice(0, said.lastIndexOf("\n") + 1)).find(({ type }) => type === "control_request");
    await eventually(() => asked() !== undefined, "the question");
    const { request, request_id } = asked() as { request: Record<string, unknown>; request_id: string };
    assert.deepEqual([request["subtype"], request["tool_name"], request["agent_id"]], ["can_use_tool", "Write", "agent_1"]);
    assert.equal(existsSync(join(at.cwd, "made.txt")), false);
    const response = { behavior: "allow", updatedInput: request["input"] };
    child.stdin.write(
      `${JSON.stringify({ type: "control_response", response: { subtype: "success", request_id, response } })}\n`,
    );
    await eventually(() => said.includes('"result":"after notification"'), "the second result");
    child.stdin.end();
    const ended = await done;
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(existsSync(join(at.cwd, "made.txt")), true);
  });
});
