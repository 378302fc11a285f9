import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { places, TestClient } from "./acp-client.ts";
import { eventually, lines, model, run } from "./command.ts";

const bash = { name: "Bash", input: { command: "echo from-behind", description: "say it", run_in_background: true } };
const agent = {
  name: "Agent",
  input: { description: "look", prompt: "look around", subagent_type: "Explore", run_in_background: true },
};
const allowed = ["--allowedTools", "Bash", "Agent"];

/** Each request is answered by what was said last, so that no order of tasks matters. */
const replies = (calls: readonly unknown[]) => {
  let begun = false;
  return () => {
    const first = !begun;
    begun = true;
    return first ? { calls: calls as never } : { text: "ok" };
  };
};

describe("work beside the conversation is shown", () => {
  it("in caliban's frames: that it began, how it ended, and what there is", async () => {
    const { home, cwd } = places();
    const { env } = await model(replies([bash, agent]), home);
    const { code, stdout, stderr } = await run(
      ["-p", "go", "--flavor", "caliban", "--output-format", "stream-json", "--background-wait", "30s", ...allowed],
      { env, cwd },
    );
    assert.equal(code, 0, stderr);
    const frames = lines(stdout);
    const told = (subtype: string) => frames.filter((frame) => frame["type"] === "system" && frame["subtype"] === subtype);
    assert.deepEqual(
      told("task_started")
        .map(({ task_type }) => task_type)
        .sort(),
      ["local_agent", "local_bash"],
    );
    assert.deepEqual(
      told("task_notification").map(({ status }) => status),
      ["completed", "completed"],
    );
    assert.deepEqual(told("background_tasks_changed").at(-1)?.["tasks"], []);
    assert.equal(frames.filter(({ type }) => type === "result").length, 1);
  });

  it("to an editor: as a call of its own, which ends with what was printed", async () => {
    const { home, cwd } = places();
    const { env } = await model(replies([bash]), home);
    const client = new TestClient({ env, args: allowed });
    const { sessionId } = await client.open(cwd);
    assert.equal((await client.prompt(sessionId, "go")).stopReason, "end_turn");
    const ended = () => client.updates("tool_call_update").filter(({ toolCallId }) => toolCallId.startsWith("task-"));
    await eventually(() => ended().some(({ status }) => status === "completed"), "the end of the task");
    const [begun, ...others] = client.updates("tool_call").filter(({ toolCallId }) => toolCallId.startsWith("task-"));
    assert.deepEqual([begun?.title, begun?.kind, others.length], ["say it", "execute", 0]);
    const last = ended().at(-1);
    assert.equal(last?.toolCallId, begun?.toolCallId);
    assert.match(JSON.stringify(last?.content), /completed \(exit code 0\).*from-behind/);
    await client.end();
  });

  it("to an editor: its agents ask when their turn is over, and the answer counts", async () => {
    const { home, cwd } = places();
    const helper = { helper: { description: "Helps.", prompt: "You help.", tools: ["Bash", "Write"] } };
    const untilGo = { name: "Bash", input: { command: "while [ ! -e go ]; do sleep 0.05; done" } };
    const write = { name: "Write", input: { file_path: "made.txt", content: "x" } };
    const left = { parent: [{ ...agent, input: { ...agent.input, subagent_type: "helper" } }], child: [untilGo, write] };
    const { env } = await model(({ body }) => {
      const isParent = (body as { tools?: { name: string }[] }).tools?.some(({ name }) => name === "Task") ?? false;
      const call = left[isParent ? "parent" : "child"].shift();
      return call ? { calls: [call] } : { text: "ok" };
    }, home);
    const client = new TestClient({
      env,
      args: ["--agents", JSON.stringify(helper), ...allowed],
      onPermission: () => ({ outcome: { outcome: "selected", optionId: "allow" } }),
    });
    const { sessionId } = await client.open(cwd);
    assert.equal((await client.prompt(sessionId, "go")).stopReason, "end_turn");
    assert.deepEqual(client.questions, []);
    writeFileSync(join(cwd, "go"), "");
    await eventually(() => client.questions.length === 1, "the question");
    await eventually(() => existsSync(join(cwd, "made.txt")), "the file");
    await eventually(
      () =>
        client
          .updates("tool_call_update")
          .some(({ toolCallId, status }) => toolCallId === "task-agent_1" && status === "completed"),
      "the end of the agent",
    );
    await client.end();
  });

  it("in trajectories: nobody typed what wakes the model", async () => {
    const { home, cwd } = places();
    const slow = { ...bash, input: { ...bash.input, command: "sleep 0.5; echo late" } };
    const { env } = await model(replies([slow]), home);
    const { code, stdout, stderr } = await run(["-p", "go", "--output-format", "json", "--background-wait", "30s", ...allowed], {
      env,
      cwd,
    });
    assert.equal(code, 0, stderr);
    const { session_id: id } = JSON.parse(stdout);
    const exported = await run(["trajectory", "export", id], { env, cwd });
    const { steps } = JSON.parse(exported.stdout) as {
      steps: { source: string; message: unknown; extra?: { origin?: string } }[];
    };
    assert.deepEqual(
      steps.filter(({ source }) => source === "user").map(({ message }) => message),
      ["go"],
    );
    const woken = steps.filter(({ extra }) => extra?.origin === "task");
    assert.deepEqual(
      woken.map(({ source }) => source),
      ["system"],
    );
    assert.match(JSON.stringify(woken[0]?.message), /task-notification.*completed/);
  });
});
