import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PermissionRequest } from "@outrider/runtime";
import { createPaint } from "../terminal/paint.ts";
import { ConversationView } from "./conversation-view.ts";

const request = {
  requestId: "r",
  toolCallId: "c",
  toolName: "Bash",
  input: { command: "x" },
  reason: "why",
} as unknown as PermissionRequest;

/** A view whose clock is set by hand. */
function open() {
  let now = 0;
  const view = new ConversationView({ paint: createPaint(false), columns: () => 60, rows: () => 30, now: () => now, past: [] });
  return {
    view,
    pass(ms: number): void {
      now += ms;
    },
    type(text: string, each: number): void {
      for (const letter of text) {
        now += each;
        view.press({ type: "text", text: letter });
      }
    },
    enter: () => view.press({ type: "named", name: "enter" }),
  };
}

describe("a question that comes while somebody types", () => {
  it("leaves the keys to the prompt until nobody has typed for a second", () => {
    const its = open();
    its.type("please ", 120);
    its.view.ask(request);
    its.type("do it today", 120);
    assert.deepEqual(its.enter(), { type: "say", text: "please do it today" });
    its.pass(1_000);
    its.type("y", 0);
    assert.deepEqual(its.enter(), { type: "permit", requestId: "r", answer: { decision: "allow" } });
  });

  it("shows what is written below it meanwhile, and then only itself", () => {
    const its = open();
    its.view.ask(request);
    its.type("words", 100);
    assert.ok(its.view.bottom().lines.includes("› words"));
    its.pass(1_000);
    assert.equal(its.view.bottom().lines.at(-1), "    a letter chooses, Enter says it · Esc: no");
    its.type("words", 100);
    assert.equal(its.view.bottom().lines.at(-1), '    "words" is no answer: one letter, then Enter · Esc: no');
    assert.equal(its.enter(), undefined);
  });

  it("has the next one wait in the same way", () => {
    const its = open();
    its.view.ask(request);
    its.view.ask({ ...request, requestId: "next" });
    its.pass(1_000);
    its.type("y", 0);
    its.enter();
    its.view.apply({
      type: "permission.resolved",
      requestId: "r",
      callId: "c",
      decision: "allow",
      by: "user",
      reason: "",
    } as never);
    its.type("y", 500);
    assert.deepEqual(its.enter(), { type: "say", text: "y" });
  });
});

describe("a long text", () => {
  it("of 5,000 lines does not stop everything", () => {
    const its = open();
    const began = performance.now();
    its.view.press({ type: "paste", text: `${"word ".repeat(20)}\n`.repeat(5_000) });
    for (let times = 0; times < 5; times++) its.view.bottom();
    assert.ok(performance.now() - began < 10_000, `${performance.now() - began} ms`);
  });
});
