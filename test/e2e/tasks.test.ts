import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { RecordedRequest, ServerReply } from "../../packages/runtime/src/testing/model-server.ts";
import { eventually, lines, model, processesWith, run, start, tempFolder } from "./command.ts";

type Body = { system?: { text: string }[]; messages: { role: string; content: unknown }[]; tools?: { name: string }[] };

/** A model that answers by who asks: the session, or a subagent. */
function cast(parts: { parent: (body: Body) => ServerReply; child: (body: Body) => ServerReply }) {
  return (request: RecordedRequest): ServerReply => {
    const body = request.body as Body; // the command sends nothing else
    return body.tools?.some(({ name }) => name === "Task") ? parts.parent(body) : parts.child(body);
  };
}

const task = (more: object = {}) => ({ name: "Task", input: { description: "look around", prompt: "Look around.", ...more } });
const isFirst = (body: Body): boolean => body.messages.length === 1;
const helper = JSON.stringify({ helper: { description: "helps", prompt: "CUSTOM SYSTEM helper", tools: ["Bash"] } });

describe("subagents of the command", () => {
  it("come from --agents, and their frames name the call that started them", async () => {
    const replies = cast({
      parent: (body) => (isFirst(body) ? { calls: [task({ subagent_type: "helper" })] } : { text: "All done." }),
      child: (body) =>
        isFirst(body) ? { text: "I look.", calls: [{ name: "Bash", input: { command: "echo in-sub" } }] } : { text: "Seen." },
    });
    const { server, env } = await model(replies, tempFolder());
    const { code, stdout } = await run(["go", "--agents", helper, "--output-format", "stream-json"], {
      env,
      cwd: tempFolder("project"),
    });
    assert.equal(code, 0);
    const frames = lines(stdout);
    const started = frames.find((frame) => frame["subtype"] === "task_started");
    const children = frames.filter((frame) => typeof frame["parent_tool_use_id"] === "string");
    assert.deepEqual(
      children.map((frame) => [frame["type"], frame["parent_tool_use_id"] === started?.["tool_use_id"], frame["subagent_type"]]),
      [
        ["user", true, "helper"],
        ["assistant", true, "helper"],
        ["assistant", true, "helper"],
        ["user", true, "helper"],
        ["assistant", true, "helper"],
      ],
    );
    const init = frames.find((frame) => frame["subtype"] === "init");
    assert.deepEqual(init?.["agents"], ["helper", "general-purpose", "Explore", "Plan"]);
    const result = frames.at(-1);
    assert.deepEqual([result?.["type"], result?.["result"], result?.["num_turns"]], ["result", "All done.", 2]);
    const child = server.requests[1]?.body as Body;
    assert.match(child.system?.[0]?.text ?? "", /^CUSTOM SYSTEM helper\n/);
    assert.deepEqual(
      child.tools?.map(({ name }) => name),
      ["Bash"],
    );
  });

  it("come from files of the project, and one of them is always there", async () => {
    const project = tempFolder("project");
    mkdirSync(join(project, ".claude/agents"), { recursive: true });
    writeFileSync(join(project, ".claude/agents/scout.md"), "---\ndescription: scouts\ntools: Read\n---\nYou scout.\n");
    const replies = cast({
      parent: (body) => (isFirst(body) ? { calls: [task({ subagent_type: "scout" }), task()] } : { text: "Both are back." }),
      child: () => ({ text: "Back." }),
    });
    const { server, env } = await model(replies, tempFolder());
    const { code, stdout } = await run(["go"], { env, cwd: project });
    assert.deepEqual([code, stdout], [0, "Both are back.\n"]);
    const systems = server.requests.slice(1, 3).map((request) => (request.body as Body).system?.[0]?.text ?? "");
    assert.deepEqual(systems.map((system) => (system.startsWith("You scout.") ? "scout" : "general")).sort(), [
      "general",
      "scout",
    ]);
  });

  for (const agent of ["Explore", "Plan"])
    it(`that are called ${agent} change nothing, whatever the session may do`, async () => {
      const cwd = tempFolder("project");
      const changes = [
        "touch made",
        "echo x > made",
        "sed -i s/a/b/ kept.txt",
        "git init -q .",
        'python3 -c \'open("made", "w")\'',
      ];
      writeFileSync(join(cwd, "kept.txt"), "a\n");
      const calls = [
        ...changes.map((command) => ({ name: "Bash", input: { command } })),
        { name: "Write", input: { file_path: join(cwd, "made"), content: "x" } },
        { name: "Edit", input: { file_path: join(cwd, "kept.txt"), old_string: "a", new_string: "b" } },
        { name: "Bash", input: { command: "touch made", run_in_background: true } },
      ];
      const replies = cast({
        parent: (body) => (isFirst(body) ? { calls: [task({ subagent_type: agent })] } : { text: "All done." }),
        child: (body) => (isFirst(body) ? { calls } : { text: "Seen." }),
      });
      const { env } = await model(replies, tempFolder());
      const words = ["go", "--permission-mode", "bypassPermissions", "--output-format", "json"];
      const { code, stderr } = await run(words, { env, cwd });
      assert.equal(code, 0, stderr);
      assert.deepEqual([readdirSync(cwd), readFileSync(join(cwd, "kept.txt"), "utf8")], [["kept.txt"], "a\n"]);
    });

  it("that are wrongly written are a start-up error", async () => {
    const { env } = await model([], tempFolder());
    const { code, stderr } = await run(["go", "--agents", '{"helper":{"prompt":"x"}}'], { env, cwd: tempFolder("project") });
    assert.equal(code, 78);
    assert.match(stderr, /--agents: the agent "helper": description must be a text/);
  });

  it("end with the run: a signal leaves one result and none of their processes", async () => {
    const marker = `97.${process.pid}`;
    const replies = cast({
      parent: () => ({ calls: [task(), task()] }),
      child: () => ({ calls: [{ name: "Bash", input: { command: `sleep ${marker}` } }] }),
    });
    const { env } = await model(replies, tempFolder());
    const args = ["go", "--output-format", "stream-json", "--allowedTools", `Bash(sleep ${marker})`];
    const { child, done } = start(args, { env, cwd: tempFolder("project") });
    await eventually(() => processesWith(`sleep ${marker}`).length >= 2, "both subagents run their command");
    child.kill("SIGTERM");
    const { code, stdout } = await done;
    assert.equal(code, 124);
    const results = lines(stdout).filter((frame) => frame["type"] === "result");
    assert.deepEqual([results.length, results[0]?.["is_error"]], [1, true]);
    await eventually(() => processesWith(`sleep ${marker}`).length === 0, "their commands are gone");
  });

  it("leave a call of unknown outcome when the command is killed, which a resumed session is told", async () => {
    const project = tempFolder("project");
    const replies = cast({
      parent: (body) => (isFirst(body) ? { calls: [task()] } : { text: JSON.stringify(body.messages) }),
      child: () => ({ text: "Half ", hang: true }),
    });
    const { server, env } = await model(replies, tempFolder());
    const args = ["--session-id", "s-1"];
    const { child, done } = start(["go", ...args, "--output-format", "stream-json"], { env, cwd: project });
    await eventually(() => server.requests.length === 2, "the subagent asks its model");
    child.kill("SIGKILL");
    await done;
    const { code, stdout } = await run(["what happened?", "--resume", "s-1"], { env, cwd: project });
    assert.equal(code, 0);
    assert.match(stdout, /Outcome unknown: this call was started/);
    assert.equal(server.requests.length, 3);
  });
});
