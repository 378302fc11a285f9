import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Message, userText } from "../protocol/content.ts";
import type { ToolFacts } from "../protocol/tool-facts.ts";
import { builtinFacts } from "../tools/builtin/facts.ts";
import { planClearing } from "./clear-results.ts";
import { estimateResult, estimateText } from "./token-estimate.ts";

const result = (name: string, texts: string[], more: { isError?: true; images?: number } = {}): Message & { role: "tool" } => ({
  role: "tool",
  content: [
    {
      type: "tool-result",
      callId: name,
      name,
      content: [
        ...texts.map((text) => ({ type: "text", text }) as const),
        ...Array.from({ length: more.images ?? 0 }, () => ({ type: "image", mediaType: "image/png", data: "" }) as const),
      ],
      isError: more.isError ?? false,
    },
  ],
});

describe("which results give way to a note", () => {
  it("those of a hundred tokens and more among the first messages, but no work of a subagent", () => {
    const just = "x".repeat(336); // 96 tokens, and 4 for the message
    const all = [
      userText("look"),
      result("Read", [just]),
      result("Bash", [just.slice(4)]),
      result("Task", [just]),
      result("Agent", [just]),
      result("Bash", [just, just], { isError: true, images: 1 }),
      result("WebFetch", [], { images: 2 }),
      result("Grep", [just]),
    ];
    const { results, freedTokens, through } = planClearing(all, 7, builtinFacts);
    assert.deepEqual(
      results.map(({ note }) => note),
      [
        "[This old Read result (336 characters) was taken out to save room. Call Read again if you need it.]",
        "[This old Bash result (672 characters, 1 image, an error) was taken out to save room. What the call did is done; do not repeat it for its output alone.]",
        "[This old WebFetch result (2 images) was taken out to save room. Call WebFetch again if you need it.]",
      ],
    );
    const cleared = [all[1], all[5], all[6]].flatMap((one) => (one?.role === "tool" ? one.content : []));
    const sizes = cleared.reduce((sum, part) => sum + estimateResult(part), 0);
    assert.equal(freedTokens, sizes - results.reduce((sum, { note }) => sum + estimateText(note), 0));
    assert.equal(through, 7);
  });

  it("are judged by what their tools say of themselves", () => {
    const facts: Record<string, ToolFacts> = {
      Peek: { kind: "look", isRepeatable: true },
      Hire: { kind: "note", startsAgents: true },
    };
    const long = "x".repeat(1000);
    const all = [result("Peek", [long]), result("Hire", [long]), result("Paint", [long])];
    const { results } = planClearing(all, 3, (name) => facts[name]);
    assert.deepEqual(
      results.map(({ note }) => /Call Peek again|do not repeat it/.exec(note)?.[0]),
      ["Call Peek again", "do not repeat it"],
    );
  });
});
