import assert from "node:assert/strict";
import { it } from "node:test";
import type { AgentEvent } from "@outrider/runtime";
import { createPaint } from "../terminal/paint.ts";
import { toCount } from "../terminal/narrator.ts";
import { ConversationLines } from "./conversation-lines.ts";

it("says who allowed a call", () => {
  const lines = new ConversationLines(createPaint(false), () => 60);
  const resolved = (by: string): string[] =>
    lines.apply({ type: "permission.resolved", decision: "allow", by, reason: "a hook said so" } as AgentEvent);
  assert.deepEqual([...resolved("user"), ...resolved("policy")], ["  allowed by you", "  allowed: a hook said so"]);
});

it("counts tokens in short words", () => {
  assert.deepEqual([999, 1_000, 999_949, 1_000_000, 1_250_000].map(toCount), ["999", "1.0k", "999.9k", "1M", "1.3M"]);
});
