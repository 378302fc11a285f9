import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { images } from "../../../../test/border/images.ts";
import type { HooksByEvent } from "../engine/open-hooks.ts";
import { createScriptedProvider } from "../model/scripted.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { InteractiveSession } from "./interactive-session.ts";
import type { SessionOptions } from "./session-options.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-hook-answers-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const bash = (command: string) => ({ name: "Bash", input: { command } });
const write = (name: string) => ({ name: "Write", input: { file_path: name, content: "x" } });

/** One prompt to its end: what the tools said, and the warnings. */
async function run(calls: { name: string; input: unknown }[][], options: Partial<SessionOptions>) {
  const provider = createScriptedProvider([...calls.map((some) => ({ calls: some })), { text: "Done." }]);
  const session = new InteractiveSession({ cwd: folder, provider, ...options });
  const events: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of session.events()) events.push(event);
  })();
  await session.submit("go");
  await session.shutdown();
  await reading;
  const results = events.flatMap((event) =>
    event.type === "tool.ended"
      ? [[event.status, event.result.content.map((part) => (part.type === "text" ? part.text : part.mediaType)).join("|")]]
      : [],
  );
  const warnings = events.flatMap((event) => (event.type === "warning.raised" ? [event.message] : []));
  return { results, warnings, provider };
}

describe("PostToolUseFailure hooks", () => {
  it("hear of calls that failed, beside PostToolUse hooks, and speak to the model", async () => {
    const heard: unknown[] = [];
    const listen = (input: { [key: string]: unknown }): object => {
      heard.push([input["hook_event_name"], input["tool_input"], input["error"]]);
      return { hookSpecificOutput: { additionalContext: "look at the log" } };
    };
    const hooks: HooksByEvent = { PostToolUseFailure: [{ matcher: "Bash", hooks: [listen] }] };
    const { results } = await run([[bash("echo fine"), bash("echo bad; exit 3")]], { allowedTools: ["Bash"], hooks });
    assert.deepEqual(heard, [["PostToolUseFailure", { command: "echo bad; exit 3" }, "bad\nExit code 3"]]);
    assert.equal(results[0]?.[1], "fine");
    assert.match(results[1]?.[1] ?? "", /look at the log/);
  });
});

describe("what PostToolUse hooks put in the place of an output", () => {
  for (const [name, field, expected] of [
    ["words", { updatedToolOutput: "hidden" }, "hidden"],
    [
      "blocks",
      {
        updatedMCPToolOutput: [
          { type: "text", text: "one" },
          { type: "image", data: images.png, mimeType: "image/png" },
        ],
      },
      "one|image/png",
    ],
    ["an answer of a server", { updatedToolOutput: { content: [{ type: "text", text: "inner" }] } }, "inner"],
    ["any other value", { updatedToolOutput: { exit: 0 } }, '{"exit":0}'],
  ] as const)
    it(`${name}: that is what the model reads, and what is recorded`, async () => {
      const hooks: HooksByEvent = { PostToolUse: [{ hooks: [() => ({ hookSpecificOutput: field })] }] };
      const { results, provider } = await run([[bash("echo hunter2")]], { allowedTools: ["Bash"], hooks });
      assert.deepEqual(results, [["ok", expected]]);
      const [result] = provider.requests[1]?.messages.slice(-1) ?? [];
      assert.doesNotMatch(JSON.stringify(result), /hunter2/);
    });

  it("a call that failed keeps its own words", async () => {
    const hooks: HooksByEvent = {
      PostToolUse: [{ hooks: [() => ({ hookSpecificOutput: { updatedToolOutput: "all is well" } })] }],
    };
    const { results } = await run([[bash("exit 3")]], { allowedTools: ["Bash"], hooks });
    assert.doesNotMatch(results[0]?.[1] ?? "", /all is well/);
  });
});

describe("what PermissionRequest hooks change for later", () => {
  const answer = (updatedPermissions: unknown) => (): object => ({
    hookSpecificOutput: { decision: { behavior: "allow", updatedPermissions } },
  });

  it("rules and modes hold for the next call", async () => {
    let asked = 0;
    const mode = answer([{ type: "setMode", mode: "acceptEdits", destination: "session" }]);
    const hook = (): object => {
      asked++;
      return mode();
    };
    const { results } = await run([[write("one")], [write("two")]], { hooks: { PermissionRequest: [{ hooks: [hook] }] } });
    assert.equal(asked, 1);
    assert.deepEqual(
      results.map(([status]) => status),
      ["ok", "ok"],
    );
  });

  it("what cannot be done is told, and the yes to this call holds", async () => {
    const hook = answer([{ type: "setMode", mode: "bypassPermissions", destination: "session" }]);
    const { results, warnings } = await run([[write("three")], [bash("touch x")]], {
      hooks: { PermissionRequest: [{ matcher: "Write", hooks: [hook] }] },
    });
    assert.deepEqual(
      results.map(([status]) => status),
      ["ok", "denied"],
    );
    assert.equal(warnings.length, 1);
  });
});

describe("other names for tools", () => {
  it("a call by such a name is one of the tool it stands for, one step far, and is judged as that", async () => {
    const toolAliases = { Shell: "Bash", Twice: "Shell" };
    const calls = [
      { ...bash("echo hi"), name: "Shell" },
      { ...bash("echo hi"), name: "Twice" },
      { ...bash("rm x"), name: "Shell" },
    ];
    const { results } = await run([calls], { allowedTools: ["Bash(echo:*)"], toolAliases });
    assert.deepEqual(results[0], ["ok", "hi"]);
    assert.match(results[1]?.[1] ?? "", /no tool named Twice/);
    assert.equal(results[2]?.[0], "denied");
  });
});
