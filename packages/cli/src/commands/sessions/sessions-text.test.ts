import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeList } from "./sessions-text.ts";

const summary = {
  cwd: "/here",
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
  turns: 1,
  bytes: 1,
};

describe("a list of sessions", () => {
  it("stands in columns whatever script the names are in", () => {
    const names = ["plain", "caf\u00e9", "cafe\u0301", "日本語", "☕ tea"];
    const list = describeList(
      names.map((name, index) => ({ ...summary, id: `s${index}`, name, prompt: "hi" })),
      { folders: false, width: undefined },
    );
    assert.deepEqual(
      list.split("\n").map((line) => line.slice(4).replace(/2026.*/, "|")),
      ["plain   |", "caf\u00e9    |", "cafe\u0301    |", "日本語  |", "☕ tea  |", ""],
    );
  });

  it("is cut by what is seen, and not within a character", () => {
    const list = describeList([{ ...summary, id: "s", prompt: "日".repeat(40) }], { folders: false, width: 51 });
    const end = list.slice(list.indexOf("日"));
    assert.deepEqual(end, `${"日".repeat(6)}…\n`);
  });
});
