import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { promptAfter } from "./transcript.ts";

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

function compacted(replaced: number, prompt: number | undefined): Parameters<typeof promptAfter>[1] {
  const rest = { preface: "", summary: "", files: [], postTokens: 0 };
  return { type: "compacted", replaced, ...(prompt !== undefined && { prompt }), ...rest };
}
