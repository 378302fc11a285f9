import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { aboutSubcommands } from "./about-subcommands.ts";
import { type Flag, flags } from "./flags.ts";
import { helpText } from "./help.ts";

describe("the help text", () => {
  for (const columns of [40, 60, 79, 80, 99]) {
    it(`fits a terminal of ${columns} columns, and leaves nothing out`, () => {
      const text = helpText("1.0.0", columns);
      const words = text.split(/\s+/);
      const longest = Math.max(...text.split("\n").map((line) => line.length));
      const widestWord = Math.max(...words.map((word) => word.length));
      assert.ok(longest <= columns || longest <= widestWord + 10, `${longest}`);
      for (const name of Object.keys(aboutSubcommands)) assert.ok(text.includes(`outrider ${name}`), name);
      for (const flag of flags as readonly Flag[])
        if (flag.refused === undefined) assert.ok(text.includes(`--${flag.name}`), flag.name);
      assert.deepEqual(new Set(words), new Set(helpText("1.0.0", 100).split(/\s+/)));
    });
  }

  it("is no wider on a wide screen", () => {
    assert.equal(helpText("1.0.0", 300), helpText("1.0.0", 100));
  });
});
