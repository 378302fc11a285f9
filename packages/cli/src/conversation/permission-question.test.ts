import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PermissionRequest } from "@outrider/runtime";
import type { Key, KeyName } from "../terminal/keys.ts";
import { createPaint } from "../terminal/paint.ts";
import { PermissionQuestion } from "./permission-question.ts";

const request = (input: object): PermissionRequest =>
  ({
    requestId: "r",
    toolCallId: "c",
    toolName: "Bash",
    input,
    reason: "no rule\nallows it",
    rule: "Bash(x)",
  }) as PermissionRequest;
const letter = (text: string): Key => ({ type: "text", text });
const key = (name: KeyName): Key => ({ type: "named", name });

function answer(...keys: readonly Key[]) {
  const question = new PermissionQuestion(request({ command: "x" }));
  return keys.map((one) => question.press(one)).at(-1);
}

describe("a permission question at a terminal", () => {
  it("is answered by a letter and Enter", () => {
    assert.deepEqual(answer(letter("y"), key("enter")), { decision: "allow" });
    assert.deepEqual(answer(letter("A"), key("enter")), { decision: "allow", remember: "session" });
    assert.deepEqual(answer(letter("n"), key("enter")), { decision: "deny" });
    assert.deepEqual(answer(letter("y"), key("backspace"), letter("n"), key("enter")), { decision: "deny" });
    assert.deepEqual(answer(key("down"), key("enter")), { decision: "allow" });
    assert.deepEqual(answer(key("up"), key("enter")), { decision: "deny" });
  });

  it("is not answered by a letter alone, nor by Enter alone, nor by words that were meant for the prompt", () => {
    for (const keys of [
      [letter("y")],
      [key("enter")],
      [letter("yes please"), key("enter")],
      [{ type: "paste", text: "y" } as const, key("enter")],
    ])
      assert.equal(answer(...keys), undefined);
  });

  it("is not answered by words that end in a letter of it, also when they are typed slowly", () => {
    for (const words of ["today", "way of java", "yy", "n y"])
      assert.equal(answer(...[...words].map(letter), key("enter")), undefined);
    assert.deepEqual(answer(...[..."today"].map(letter), key("enter"), letter("y"), key("enter")), { decision: "allow" });
  });

  it("is a no with Esc", () => assert.deepEqual(answer(letter("y"), key("escape")), { decision: "deny" }));

  it("shows the command in its own lines, and how much of a long one is hidden", () => {
    const question = new PermissionQuestion(request({ command: Array.from({ length: 20 }, (_, n) => `echo ${n}`).join("\n") }));
    const lines = question.lines(createPaint(false), 60);
    assert.deepEqual(lines.slice(0, 3), ["? Bash", "  │ echo 0", "  │ echo 1"]);
    assert.ok(lines.includes("    … 8 more lines: v shows them"));
    assert.equal(question.whole(60).length, 20);
  });

  it("obeys nothing that a command says to the terminal", () => {
    const question = new PermissionQuestion(request({ command: "echo \x1b[2A\x1b[Jls", description: "harmless\rrm" }));
    assert.deepEqual(question.whole(80), ["  │ echo \\u001b[2A\\u001b[Jls", "  │ description: harmless\\u000drm"]);
  });
});
