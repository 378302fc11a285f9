import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toHostInput } from "./hook-input.ts";

describe("what a callback of a host is told", () => {
  const call = { tool_name: "Bash", tool_input: { command: "ls" }, cwd: "/project" };

  it("after a call: what the tool answered, also in the shape that programs know", () => {
    const input = { ...call, tool_response: { content: "a.txt", is_error: false, exitCode: 0 } };
    assert.deepEqual(toHostInput("PostToolUse", input), {
      ...call,
      tool_response: {
        content: "a.txt",
        is_error: false,
        exitCode: 0,
        stdout: "a.txt",
        stderr: "",
        interrupted: false,
        isImage: false,
        noOutputExpected: false,
      },
    });
  });

  it("a shape that is no object takes the place of the answer", () => {
    const input = { ...call, tool_name: "mcp__x__y", tool_response: { content: "words", is_error: false } };
    assert.deepEqual(toHostInput("PostToolUse", input), { ...input, tool_response: [{ type: "text", text: "words" }] });
  });

  it("nothing of a call that failed: such programs have another hook for it", () => {
    assert.equal(toHostInput("PostToolUse", { ...call, tool_response: { content: "no", is_error: true } }), undefined);
  });

  it("everything as it is, where there is no such answer or the moment is another", () => {
    for (const input of [call, { ...call, tool_response: "words" }, { tool_response: { content: "x" } }])
      assert.deepEqual(toHostInput("PostToolUse", input), input);
    const failed = { ...call, tool_response: { content: "no", is_error: true } };
    assert.deepEqual(toHostInput("PreToolUse", failed), failed);
  });
});
