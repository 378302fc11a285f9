import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { AgentEvent } from "../../protocol/events.ts";
import { answer, callPart, encodeAll, encoder, ended, event, turnEnded } from "../../../../../test/support/sample-events.ts";
import type { SessionUpdate } from "./wire.ts";

describe("updates of calls", () => {
  it("tells what a running call says of itself, and nothing of one that only runs on or is not known", () => {
    const told = encodeAll(encoder(), [
      answer("m1", [callPart("c1", "Bash", { command: "ls" })]),
      event({ type: "tool.progress", callId: "c1", text: "half" }),
      event({ type: "tool.progress", callId: "c1", text: "" }),
      event({ type: "tool.progress", callId: "c9", text: "odd" }),
    ]);
    assert.deepEqual(told.slice(1), [
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "c1",
        content: [{ type: "content", content: { type: "text", text: "half" } }],
      },
    ]);
  });

  it("tells a call from its first letter to its output, and what was used after the last one of the answer", () => {
    const told = encodeAll(encoder(), [
      event({ type: "tool-input.delta", messageId: "m1", callId: "c1", name: "Bash", json: '{"comm' }),
      event({ type: "tool-input.delta", messageId: "m1", callId: "c1", name: "Bash", json: 'and":"ls"}' }),
      event({ type: "context.updated", usedTokens: 120, maxTokens: 1000 }),
      answer("m1", [callPart("c1", "Bash", { command: "ls" }), callPart("c2", "Read", { file_path: "a.txt", offset: 3 })]),
      event({ type: "tool.started", callId: "c1", name: "Bash", input: { command: "ls" } }),
      ended("c1", "Bash", { text: "a.txt", details: { exitCode: 0 } }),
      ended("c2", "Read", { text: "no", status: "denied" }),
    ]);
    assert.deepEqual(told, [
      {
        sessionUpdate: "tool_call",
        toolCallId: "c1",
        name: "Bash",
        title: "Bash",
        kind: "execute",
        status: "pending",
        rawInput: {},
      },
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "c1",
        name: "Bash",
        title: "ls",
        kind: "execute",
        rawInput: { command: "ls" },
      },
      {
        sessionUpdate: "tool_call",
        toolCallId: "c2",
        name: "Read",
        title: "Read a.txt",
        kind: "read",
        locations: [{ path: "/project/a.txt", line: 3 }],
        status: "pending",
        rawInput: { file_path: "a.txt", offset: 3 },
      },
      { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "in_progress" },
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "c1",
        title: "ls",
        kind: "execute",
        status: "completed",
        content: [{ type: "content", content: { type: "text", text: "```\na.txt\n```" } }],
        rawOutput: { output: "a.txt", exitCode: 0 },
      },
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "c2",
        title: "Read a.txt",
        kind: "read",
        status: "failed",
        content: [{ type: "content", content: { type: "text", text: "```\nno\n```" } }],
        rawOutput: { output: "no" },
      },
      { sessionUpdate: "usage_update", used: 120, size: 1000, cost: { amount: 0.25, currency: "USD" } },
    ]);
  });

  it("a call that was changed before it was made is told as it is made", () => {
    const updates = encoder();
    encodeAll(updates, [answer("m1", [callPart("c1", "Bash", { command: "rm -rf x" })])]);
    assert.deepEqual(updates.encode(event({ type: "tool.started", callId: "c1", name: "Bash", input: { command: "ls x" } })), [
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "c1",
        name: "Bash",
        title: "ls x",
        kind: "execute",
        rawInput: { command: "ls x" },
      },
      { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "in_progress" },
    ]);
  });

  it("shows what an edit changed, hunk by hunk", () => {
    const updates = encoder();
    const input = { file_path: "/project/a.txt", old_string: "b", new_string: "B" };
    const [announced] = updates.encode(answer("m1", [callPart("c1", "Edit", input)]));
    assert.deepEqual(announced, {
      sessionUpdate: "tool_call",
      toolCallId: "c1",
      name: "Edit",
      title: "Edit a.txt",
      kind: "edit",
      locations: [{ path: "/project/a.txt" }],
      content: [{ type: "diff", path: "/project/a.txt", oldText: "b", newText: "B" }],
      status: "pending",
      rawInput: input,
    });
    const [update] = updates.encode(
      ended("c1", "Edit", {
        text: "Changed.",
        details: {
          file: "/project/a.txt",
          diff: [
            { type: "hunk", text: "@@ -1,2 +1,2 @@" },
            { type: "context", text: "a", line: 1 },
            { type: "remove", text: "b", line: 2 },
            { type: "add", text: "B", line: 2 },
            { type: "hunk", text: "@@ -9,0 +9,1 @@" },
            { type: "add", text: "z", line: 9 },
            { type: "hunk", text: "… 7 more lines" },
          ],
        },
      }),
    );
    assert.deepEqual(update, {
      sessionUpdate: "tool_call_update",
      toolCallId: "c1",
      title: "Edit a.txt",
      kind: "edit",
      status: "completed",
      content: [
        { type: "diff", path: "/project/a.txt", oldText: "a\nb", newText: "a\nB" },
        { type: "diff", path: "/project/a.txt", oldText: "", newText: "z" },
      ],
      rawOutput: { output: "Changed." },
    });
  });

  it("names the files of a patch, and shows what it changed in each", () => {
    const updates = encoder();
    const input = { input: "*** Begin Patch\n*** Update File: a.txt\n-a\n+A\n*** Delete File: b.txt\n*** End Patch" };
    const [announced] = updates.encode(answer("m1", [callPart("c1", "apply_patch", input)]));
    const diff = [{ type: "hunk" as const, text: "@@ -1,1 +1,1 @@" }];
    const [update] = updates.encode(
      ended("c1", "apply_patch", {
        text: "Done.",
        details: {
          file: "/project/a.txt",
          diff: [...diff, { type: "remove", text: "a", line: 1 }, { type: "add", text: "A", line: 1 }],
          others: [{ file: "/project/b.txt", diff: [...diff, { type: "remove", text: "b", line: 1 }], removed: true }],
        },
      }),
    );
    assert.equal(announced && "title" in announced && announced.title, "Patch a.txt, b.txt");
    assert.deepEqual(update && "content" in update && update.content, [
      { type: "diff", path: "/project/a.txt", oldText: "a", newText: "A" },
      { type: "diff", path: "/project/b.txt", oldText: "b", newText: "" },
    ]);
  });

  it("a file that was not there before is shown whole", () => {
    const updates = encoder();
    updates.encode(answer("m1", [callPart("c1", "Write", { file_path: "new.txt", content: "one\n" })]));
    const [update] = updates.encode(
      ended("c1", "Write", { text: "Created.", details: { file: "new.txt", diff: [], created: true } }),
    );
    assert.deepEqual(update, {
      sessionUpdate: "tool_call_update",
      toolCallId: "c1",
      title: "Write new.txt",
      kind: "edit",
      status: "completed",
      content: [{ type: "diff", path: "/project/new.txt", oldText: null, newText: "one\n" }],
      rawOutput: { output: "Created." },
    });
  });

  it("a task list is a plan once it is accepted", () => {
    const updates = encoder();
    const todos = [
      { content: "look", status: "completed" },
      { content: "mend", status: "in_progress" },
      { content: "test", status: "pending" },
    ];
    updates.encode(answer("m1", [callPart("c1", "TodoWrite", { todos }), callPart("c2", "TodoWrite", { todos })]));
    const plans = (told: SessionUpdate[]): SessionUpdate[] => told.filter(({ sessionUpdate }) => sessionUpdate === "plan");
    assert.deepEqual(plans(updates.encode(ended("c1", "TodoWrite", { text: "ok" }))), [
      {
        sessionUpdate: "plan",
        entries: [
          { content: "look", priority: "medium", status: "completed" },
          { content: "mend", priority: "medium", status: "in_progress" },
          { content: "test", priority: "medium", status: "pending" },
        ],
      },
    ]);
    assert.deepEqual(plans(updates.encode(ended("c2", "TodoWrite", { text: "no", status: "error" }))), []);
  });

  it("whatever happens, an update is of a call that was announced, and no call is left open", () => {
    const callId = fc.constantFrom("c1", "c2", "c3");
    const messageId = fc.constantFrom("m1", "m2");
    const taskId = fc.constantFrom(undefined, "task1");
    const input = fc.oneof(fc.constant({ command: "ls" }), fc.constant({ file_path: 7 }), fc.constant("text"), fc.constant(null));
    const name = fc.constantFrom("Bash", "Edit", "Write", "TodoWrite", "mcp__a__b");
    const happening: fc.Arbitrary<AgentEvent> = fc.oneof(
      fc
        .tuple(messageId, callId, name)
        .map(([m, c, n]) => event({ type: "tool-input.delta", messageId: m, callId: c, name: n, json: "{" })),
      fc.tuple(messageId, callId, name, input, taskId).map(([m, c, n, i, t]) => answer(m, [callPart(c, n, i)], t)),
      fc
        .tuple(callId, name, input, taskId)
        .map(([c, n, i, t]) => event({ type: "tool.started", callId: c, name: n, input: i }, t)),
      fc.tuple(callId, name).map(([c, n]) => ended(c, n, { text: "out" })),
      messageId.map((m) =>
        event({
          type: "fallback.used",
          messageId: m,
          from: "a",
          to: "b",
          error: { code: "provider-overloaded", message: "busy", retryable: true },
        }),
      ),
    );
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 20 }), (events) => {
        const open = new Map<string, boolean>();
        for (const update of encodeAll(encoder(), [...events, turnEnded])) {
          if (update.sessionUpdate === "tool_call") open.set(update.toolCallId, true);
          if (update.sessionUpdate !== "tool_call_update") continue;
          assert.ok(open.has(update.toolCallId), "announced");
          if (update.status === "completed" || update.status === "failed") open.set(update.toolCallId, false);
        }
        assert.deepEqual([...open.values()].filter(Boolean), []);
      }),
    );
  });
});
