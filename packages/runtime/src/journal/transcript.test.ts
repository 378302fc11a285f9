import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Message, type ToolResultPart, userText } from "../protocol/content.ts";
import { clearResults, promptAfter, Transcript } from "./transcript.ts";

describe("the prompt of a turn after a compaction", () => {
  const places: [
    fact: string,
    prompt: number | undefined,
    result: { replaced: number; prompt?: number },
    at: number | undefined,
  ][] = [
    ["stands behind the summary when it was taken out of what was replaced", 2, { replaced: 5, prompt: 2 }, 1],
    ["moves up when it was behind what was replaced", 7, { replaced: 5 }, 3],
    ["is the first behind the summary when all before it was replaced", 5, { replaced: 5 }, 1],
    ["is gone with what was replaced", 4, { replaced: 5 }, undefined],
    ["is none when there was none", undefined, { replaced: 5 }, undefined],
  ];
  for (const [fact, prompt, { replaced, prompt: kept }, at] of places) {
    it(fact, () => assert.equal(promptAfter(prompt, compacted(replaced, kept)), at));
  }
});

describe("old results", () => {
  const result = (callId: string): ToolResultPart => ({
    type: "tool-result",
    callId,
    name: "Read",
    isError: false,
    content: [{ type: "text", text: callId }],
  });
  const messages: Message[] = [
    { role: "tool", content: [result("a"), result("b")] },
    { role: "user", content: [{ type: "text", text: "and?" }] },
    { role: "tool", content: [result("c")] },
    { role: "tool", content: [result("a")] },
  ];
  const shown = (list: readonly Message[]): unknown =>
    list.map(({ content }) => JSON.stringify(content).match(/"text":"[^"]*"/g));

  it("give way to a note, where they stand before the given place", () => {
    const cleared = clearResults(messages, { through: 3, results: [{ callId: "a", note: "gone" }], preTokens: 1, postTokens: 1 });
    assert.deepEqual(shown(cleared), [['"text":"gone"', '"text":"b"'], ['"text":"and?"'], ['"text":"c"'], ['"text":"a"']]);
    assert.deepEqual([cleared[1] === messages[1], cleared[2] === messages[2], cleared[3] === messages[3]], [true, true, true]);
  });
});

describe("a transcript", () => {
  it("begins with the summary after a compaction, and with what is kept word for word", () => {
    const transcript = new Transcript();
    const envelope = { seq: 1, at: "", sessionId: "s" };
    transcript.apply({ ...envelope, type: "turn.started", input: userText("go") });
    const result = { ...compacted(1, undefined), preface: "Before:", summary: "much", kept: '<kept>\nuser: "go"\n</kept>' };
    const sizes = { compactionId: "c", trigger: "manual", preTokens: 1, durationMs: 1 } as const;
    transcript.apply({ ...envelope, type: "compaction.ended", ...sizes, result });
    assert.deepEqual(transcript.messages, [
      {
        role: "user",
        content: [{ type: "text", text: 'Before:\n\n<summary>\nmuch\n</summary>\n\n<kept>\nuser: "go"\n</kept>' }],
      },
    ]);
  });

  it("begins without a summary, and takes no result of a call that nobody made", () => {
    const transcript = new Transcript();
    const envelope = { seq: 1, at: "", sessionId: "s" };
    transcript.apply({ ...envelope, type: "tool.started", callId: "a", name: "Read", input: {} });
    assert.deepEqual([transcript.hasSummary, transcript.messages, transcript.prompt], [false, [], undefined]);
  });
});

function compacted(replaced: number, prompt: number | undefined): Parameters<typeof promptAfter>[1] {
  const rest = { preface: "", summary: "", files: [], postTokens: 0 };
  return { type: "compacted", replaced, ...(prompt !== undefined && { prompt }), ...rest };
}
