import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { AgentEvent } from "@outrider/runtime";
import { toMarkdown } from "./session-markdown.ts";

/** Whatever a model may write to get out of a fence: runs of backticks, line ends, tildes, tags, control characters. */
const hostile = fc
  .array(fc.constantFrom("`", "```", "\n", "~~~", "</pre>", "# x", "\r", "\u2028", "\u001b[2J", "\t", " ", "a", "\ud800"), {
    maxLength: 40,
  })
  .map((pieces) => pieces.join(""));

function transcriptOf(text: string): string {
  const envelope = { at: "2025-01-01T00:00:00.000Z", sessionId: "s", turnId: "t" };
  const content = [{ type: "text", text }];
  const events = [
    { ...envelope, type: "turn.started", seq: 1, input: { role: "user", content } },
    {
      ...envelope,
      type: "message.ended",
      seq: 2,
      message: {
        content: [{ type: "reasoning", text: `r${text}` }, ...content, { type: "tool-call", name: text, input: { text } }],
      },
    },
    { ...envelope, type: "tool.ended", seq: 3, name: "Bash", status: "ok", result: { content } },
    { ...envelope, type: "turn.ended", seq: 4, outcome: { type: "completed", text } },
  ] as unknown as AgentEvent[];
  const summary = {
    id: "s",
    name: `n${text}`,
    cwd: "/x",
    createdAt: envelope.at,
    updatedAt: envelope.at,
    prompt: text,
    turns: 1,
    bytes: 1,
  };
  return [...toMarkdown(summary, events)].join("");
}

/** What CommonMark takes for text: everything that is in no fence, without spans of code. */
function outsideCode(markdown: string): string {
  let fence = "";
  const lines = markdown.split("\n").filter((line) => {
    const ticks = /^ {0,3}(`{3,})\s*$/.exec(line)?.[1] ?? "";
    if (fence === "") {
      fence = ticks;
      return ticks === "";
    }
    if (ticks.length >= fence.length) fence = "";
    return false;
  });
  assert.equal(fence, "", "every fence is closed");
  return lines.join("\n").replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, "CODE");
}

describe("toMarkdown", () => {
  it("keeps everything that was written inside fences and spans, whatever it holds", () => {
    const frame = outsideCode(transcriptOf("harmless"));
    assert.match(frame, /\*\*Call of CODE\*\*/);
    fc.assert(
      fc.property(hostile, (text) => assert.equal(outsideCode(transcriptOf(text)), frame)),
      { numRuns: 1000 },
    );
  });

  it("shows control characters and keeps tabs and lines", () => {
    const shown = transcriptOf("one\n\ttwo\u001b[2J\rthree");
    assert.ok(shown.includes("\none\n\ttwo\\u001b[2J\\u000dthree\n"));
    assert.ok(!shown.includes("\u001b") && !shown.includes("\r"));
  });
});
