import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { TodoContinuation } from "./todo-continuation.ts";

const temp = mkdtempSync(join(tmpdir(), "outrider-todo-"));
after(() => rmSync(temp, { recursive: true, force: true }));

describe("TodoContinuation", () => {
  const now = () => Date.parse("2026-04-03T10:00:00Z");
  const save = (todos: unknown, updatedAt = "2026-04-03T09:00:00Z") =>
    writeFileSync(join(temp, "t1.json"), JSON.stringify({ todos, updatedAt, sessionId: "t1" }));
  const open = () => new TodoContinuation({ todoDir: temp, sessionId: "t1", now });

  it("reminds of what is pending or in progress, and of nothing else", async () => {
    save([
      { id: "1", content: "Write", status: "completed" },
      { id: "2", content: "Test", status: "in_progress" },
      { id: "3", content: "Ship", status: "pending" },
      { id: "4", content: "Sing", status: "cancelled" },
    ]);
    const reminder = await open().getReminder();
    assert.equal(reminder.hasReminder, true);
    assert.match(reminder.message ?? "", /2 tasks are not done yet:\n- \[in progress\] Test\n- \[pending\] Ship\n/);
  });

  it("finds nothing in a list that is missing, broken, old or done", async () => {
    const none = { hasReminder: false, message: null };
    assert.deepEqual(await new TodoContinuation({ todoDir: temp, sessionId: "nobody" }).getReminder(), none);
    writeFileSync(join(temp, "t1.json"), "{");
    assert.deepEqual(await open().getReminder(), none);
    save([{ id: "1", content: "Old", status: "pending" }], "2026-04-01T09:00:00Z");
    assert.deepEqual(await open().getReminder(), none);
    save([{ id: "1", content: "Write", status: "completed" }]);
    assert.deepEqual(await open().getReminder(), none);
  });

  it("takes its id from a session manager too, and its words from the caller", async () => {
    save([{ id: "1", content: "Ship", status: "pending" }]);
    const todo = new TodoContinuation(
      { todoDir: temp, now, userMessageTemplate: (todos) => `${todos.length} left` },
      { getId: () => "t1" },
    );
    assert.equal(await todo.buildContinuationUserMessage(), "1 left");
  });
});
