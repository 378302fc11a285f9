import assert from "node:assert/strict";
import { it } from "node:test";
import { linesNow } from "./changed-lines.ts";

it("of a file that was changed, only the changed lines and three around them are shown", () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
  const change = (text: string): string[] =>
    linesNow({ name: "a.txt", before: lines.join("\n"), text: lines.with(9, text).join("\n"), lines: [10] }).map((line) =>
      line.trim(),
    );
  const expected = lines.slice(6, 13).map((line, index) => `${index + 7}\t${line}`);
  assert.deepEqual(change("new"), ["a.txt now:", ...expected.with(3, "10\tnew")]);
  assert.deepEqual(change("new\nmore"), [
    "a.txt now:",
    ...expected.slice(0, 3),
    ...["10\tnew", "11\tmore", "12\tline 11", "13\tline 12", "14\tline 13"],
  ]);
});
