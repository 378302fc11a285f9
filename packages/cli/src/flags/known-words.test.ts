import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { knownWords } from "./known-words.ts";

describe("words of a program that uses an SDK", () => {
  it("flags that nobody knows go with their values, everything else stays as it is", () => {
    const { words, ignored } = knownWords([
      ...["--verbose", "--new-thing", "its value", "--newer=thing", "--newest", "--model", "--odd"],
      ...["--plugin-dir", "/a", "--plugin-dir-no-mcp=/b", "--system-prompt", "--also-odd", "--worktree"],
    ]);
    assert.deepEqual(words, [
      ...[
        "--verbose",
        "--model",
        "--odd",
        "--plugin-dir",
        "/a",
        "--plugin-dir-no-mcp=/b",
        "--system-prompt",
        "--also-odd",
        "--worktree",
      ],
    ]);
    assert.deepEqual(
      ignored.map((line) => /--[\w-]+/.exec(line)?.[0]),
      ["--new-thing", "--newer", "--newest"],
    );
  });
});
