import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Instructions } from "./instructions.ts";
import { NestedInstructions } from "./nested-instructions.ts";

/** Each folder has an AGENTS.md of its own; `asked` is what was looked for. */
function scene(earlier: { path: string; callId: string }[] = []) {
  const asked: string[] = [];
  const instructions: Instructions = {
    ...{ text: "", files: [{ path: "/top/AGENTS.md", bytes: 1, scope: "project" }], warnings: [] },
    below(file, known) {
      asked.push(file);
      const path = `${file.slice(0, file.lastIndexOf("/"))}/AGENTS.md`;
      const files = known.has(path) ? [] : [{ path, bytes: 1, scope: "project" as const }];
      return { text: files.length === 0 ? "" : `words of ${path}`, files, warnings: [] };
    },
  };
  const nested = new NestedInstructions(instructions, () => earlier);
  const touch = (callId: string, ...paths: string[]): string | undefined => nested.touch({ paths, callId })?.text;
  return { nested, touch, asked };
}

describe("the instructions of a folder below", () => {
  it("come with the first file that is touched there, and are not looked for again", () => {
    const { touch, asked } = scene();
    assert.match(touch("c1", "/top/a/x.ts") ?? "", /^There are instructions for this file[\s\S]*words of \/top\/a\/AGENTS\.md$/);
    assert.equal(asked.length, 1);
    assert.equal(touch("c2", "/top/a/y.ts"), undefined);
    assert.equal(asked.length, 1, "the folder is known");
    assert.match(touch("c3", "/top/a/y.ts", "/top/b/z.ts") ?? "", /words of \/top\/b/);
  });

  it("come again when the call that showed them is gone, and only then", () => {
    const { nested, touch } = scene();
    touch("c1", "/top/a/x.ts");
    touch("c2", "/top/b/x.ts");
    nested.forget(new Set(["c1"]));
    assert.match(touch("c3", "/top/a/x.ts") ?? "", /words of \/top\/a/);
    assert.equal(touch("c4", "/top/b/x.ts"), undefined);
    nested.forget();
    assert.match(touch("c5", "/top/b/x.ts") ?? "", /words of \/top\/b/);
  });

  it("do not come where the record has them, or the prompt", () => {
    const { touch } = scene([{ path: "/top/a/AGENTS.md", callId: "old" }]);
    assert.equal(touch("c1", "/top/a/x.ts"), undefined);
    assert.equal(touch("c2", "/top/x.ts"), undefined);
  });
});
