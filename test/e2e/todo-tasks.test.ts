import assert from "node:assert/strict";
import { mkdirSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ModelServerOptions } from "../../packages/runtime/src/testing/model-server.ts";
import { lines, model, run, tempFolder } from "./command.ts";

const stream = ["--output-format", "stream-json", "--verbose"];
const calls = (...uses: readonly (readonly [string, object])[]) => ({ calls: uses.map(([name, input]) => ({ name, input })) });

async function place(replies: ModelServerOptions["replies"]) {
  const top = realpathSync(tempFolder("todo"));
  const [cwd, home] = [join(top, "work"), join(top, "home/.outrider")];
  mkdirSync(cwd);
  const { env } = await model(replies, home);
  const outrider = (args: readonly string[], more: Record<string, string> = {}) =>
    run(["-p", "go", ...args, ...stream], { cwd, env: { ...env, HOME: join(top, "home"), ...more } });
  return { home, outrider };
}

type UserFrame = {
  readonly message: { readonly content: readonly { readonly content: unknown }[] };
  readonly tool_use_result: unknown;
};

/** What the model was told, and what programs are told, of each call. */
function resultsIn(stdout: string): { readonly words: string; readonly result: unknown }[] {
  const frames = lines(stdout).filter(({ type }) => type === "user") as unknown as UserFrame[];
  return frames.map(({ message, tool_use_result: result }) => {
    const content = message.content[0]?.content;
    const words = typeof content === "string" ? content : (content as { text: string }[]).map(({ text }) => text).join("");
    return { words, result };
  });
}

function toolsIn(stdout: string): readonly string[] {
  const init = lines(stdout).find(({ subtype }) => subtype === "init") as { tools?: readonly string[] } | undefined;
  return init?.tools ?? [];
}

const on = { CLAUDE_CODE_ENABLE_TODO_TOOLS: "1" };

describe("the task list with ids", () => {
  it("answers model and programs as Claude Code does", async () => {
    const { outrider } = await place([
      calls(["TaskCreate", { subject: "FX one", description: "FX d1", activeForm: "Doing one" }]),
      calls(["TaskCreate", { subject: "FX two", description: "FX d2", metadata: { k: 1 } }]),
      calls(["TaskUpdate", { taskId: "2", addBlockedBy: ["1"] }], ["TaskUpdate", { taskId: "1", status: "in_progress" }]),
      calls(["TaskList", {}]),
      calls(["TaskUpdate", { taskId: "1", status: "completed" }], ["TaskUpdate", { taskId: "9", status: "completed" }]),
      calls(["TaskGet", { taskId: "2" }], ["TaskGet", { taskId: "9" }]),
      calls(["TaskUpdate", { taskId: "2", status: "deleted" }]),
      calls(["TaskList", {}]),
      { text: "done" },
    ]);
    const { stdout, code } = await outrider([], on);
    assert.equal(code, 0);
    assert.deepEqual(resultsIn(stdout), [
      { words: "Task #1 created successfully: FX one", result: { task: { id: "1", subject: "FX one", description: "FX d1" } } },
      { words: "Task #2 created successfully: FX two", result: { task: { id: "2", subject: "FX two", description: "FX d2" } } },
      { words: "Updated task #2 blockedBy", result: { success: true, taskId: "2", updatedFields: ["blockedBy"] } },
      {
        words: "Updated task #1 status",
        result: { success: true, taskId: "1", updatedFields: ["status"], statusChange: { from: "pending", to: "in_progress" } },
      },
      {
        words: "#1 [in_progress] FX one\n#2 [pending] FX two [blocked by #1]",
        result: {
          tasks: [
            { id: "1", subject: "FX one", status: "in_progress", blockedBy: [] },
            { id: "2", subject: "FX two", status: "pending", blockedBy: ["1"] },
          ],
        },
      },
      {
        words: "Updated task #1 status",
        result: { success: true, taskId: "1", updatedFields: ["status"], statusChange: { from: "in_progress", to: "completed" } },
      },
      { words: "Task not found", result: { success: false, taskId: "9", updatedFields: [], error: "Task not found" } },
      {
        words: "Task #2: FX two\nStatus: pending\nDescription: FX d2\nBlocked by: #1",
        result: {
          task: { id: "2", subject: "FX two", description: "FX d2", status: "pending", blocks: [], blockedBy: ["1"] },
        },
      },
      { words: "Task not found", result: { task: null } },
      {
        words: "Updated task #2 deleted",
        result: { success: true, taskId: "2", updatedFields: ["deleted"], statusChange: { from: "pending", to: "deleted" } },
      },
      {
        words: "#1 [completed] FX one",
        result: { tasks: [{ id: "1", subject: "FX one", status: "completed", blockedBy: [] }] },
      },
    ]);
  });

  it("goes on with its session, or with those that name it", async () => {
    const create = (subject: string) => calls(["TaskCreate", { subject, description: "" }]);
    const { outrider, home } = await place([create("a"), { text: "1" }, create("b"), { text: "2" }, create("c"), { text: "3" }]);
    const first = await outrider(["--session-id", "11111111-1111-4111-8111-111111111111"], on);
    const second = await outrider(["--resume", "11111111-1111-4111-8111-111111111111"], on);
    const third = await outrider([], { ...on, CLAUDE_CODE_TASK_LIST_ID: "ours/../x" });
    const told = [first, second, third].map(({ stdout }) => resultsIn(stdout).at(-1)?.words);
    assert.deepEqual(told, [
      "Task #1 created successfully: a",
      "Task #2 created successfully: b",
      "Task #1 created successfully: c",
    ]);
    assert.deepEqual(readdirSync(join(home, "todo")).length, 2);
  });

  it("is offered where the variable or a name asks for it, in the place of the simpler list", async () => {
    const { outrider } = await place(() => ({ text: "done" }));
    const names = ["TaskCreate", "TaskGet", "TaskUpdate", "TaskList", "TodoWrite"];
    const offered = async (args: readonly string[], env: Record<string, string>) =>
      toolsIn((await outrider(args, env)).stdout)
        .filter((name) => names.includes(name))
        .sort();
    assert.deepEqual(await offered([], {}), ["TodoWrite"]);
    assert.deepEqual(await offered([], on), ["TaskCreate", "TaskGet", "TaskList", "TaskUpdate"]);
    assert.deepEqual(await offered([], { ...on, CLAUDE_CODE_ENABLE_TASKS: "0" }), ["TodoWrite"]);
    assert.deepEqual(await offered(["--tools", "Read,TaskCreate"], {}), ["TaskCreate"]);
  });

  it("asks hooks, whose objection keeps an entry off the list, or from being done", async () => {
    const { outrider } = await place([
      calls(["TaskCreate", { subject: "bad one", description: "d" }]),
      calls(["TaskCreate", { subject: "good one", description: "d" }]),
      calls(["TaskUpdate", { taskId: "2", status: "completed" }]),
      calls(["TaskList", {}]),
      { text: "done" },
    ]);
    const hook = (command: string) => [{ hooks: [{ type: "command", command }] }];
    const hooks = {
      TaskCreated: hook("! grep -q bad || { echo 'Nothing bad.' >&2; exit 2; }"),
      TaskCompleted: hook("echo 'Not yet.' >&2; exit 2"),
    };
    const { stdout } = await outrider(["--settings", JSON.stringify({ hooks })], on);
    const said = "A hook objects: Not yet.";
    assert.deepEqual(
      resultsIn(stdout).map(({ words }) => words),
      [
        "Task #1 was not created, a hook objects: Nothing bad.",
        "Task #2 created successfully: good one",
        `Task #2 is not completed. ${said}`,
        "#2 [pending] good one",
      ],
    );
  });
});
