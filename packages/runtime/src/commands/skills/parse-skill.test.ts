import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseSkill } from "./parse-skill.ts";

const place = { name: "a", kind: "skill", scope: "user", path: "/a/SKILL.md", folder: "/a", within: undefined } as const;

describe("the effort of a skill", () => {
  for (const effort of ["low", "medium", "high", "xhigh", "max"])
    it(`may be ${effort}`, async () => {
      const { skill, problems } = await parseSkill(`---\neffort: ${effort.toUpperCase()}\n---\nx`, place);
      assert.deepEqual([skill.effort, problems], [effort, []]);
    });

  it("is none of another word, and that is told", async () => {
    const { skill, problems } = await parseSkill("---\neffort: huge\n---\nx", place);
    assert.deepEqual([skill.effort, problems], [undefined, ["/a/SKILL.md: effort should be low, medium, high, xhigh, max"]]);
  });
});
