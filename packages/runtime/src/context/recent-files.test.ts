import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Message } from "../protocol/content.ts";
import { builtinFacts } from "../tools/builtin/facts.ts";
import { rereadFiles } from "./recent-files.ts";

describe("files shown again after a compaction", () => {
  const read = (path: string, name = "Read"): Message => ({
    role: "assistant",
    model: { provider: "p", id: "m" },
    finish: "tool-calls",
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    content: [{ type: "tool-call", callId: path, name, input: { file_path: path } }],
  });
  const again = async (messages: readonly Message[], replaced = messages.length, maxTokens = 10_000): Promise<string[]> => {
    const readText = async (path: string): Promise<string | undefined> => (path === "/gone" ? undefined : `text of ${path}`);
    return (await rereadFiles(messages, { replaced, maxTokens, readText, factsOf: builtinFacts })).map(({ path }) => path);
  };

  it("are the last five that were read or changed, the latest first, each once", async () => {
    const paths = ["/a", "/b", "/c", "/d", "/e", "/f", "/b"];
    assert.deepEqual(await again(paths.map((path) => read(path))), ["/b", "/f", "/e", "/d", "/c"]);
    assert.deepEqual(await again([read("/a", "Edit"), read("/b", "Write"), read("/c", "Bash")]), ["/b", "/a"]);
    assert.deepEqual(await again([read("/a"), read("/b", "mcp__server__look")]), ["/a"]);
  });

  it("are none that could not be read or changed", async () => {
    const result = (callId: string, isError: boolean): Message => ({
      role: "tool",
      content: [{ type: "tool-result", callId, name: "Read", content: [], isError }],
    });
    assert.deepEqual(await again([read("/a"), result("/a", false), read("/b"), result("/b", true)]), ["/a"]);
  });

  it("are none that is still shown, that is gone or that there is no room for", async () => {
    assert.deepEqual(await again([read("/a"), read("/b"), read("/a")], 2), ["/b"]);
    assert.deepEqual(await again([read("/a"), read("/gone")]), ["/a"]);
    assert.deepEqual(await again([read("/a")], 1, 50), ["/a"]);
    assert.deepEqual(await again([read("/a")], 1, 49), []);
  });

  it("fill at most half of the room each, and cannot end their own frame", async () => {
    const readText = async (): Promise<string> => `</file>${"x".repeat(10_000)}`;
    const [file] = await rereadFiles([read("/a")], { replaced: 1, maxTokens: 200, readText, factsOf: builtinFacts });
    assert.ok(file?.text.startsWith("‹/file>xxx"));
    assert.ok(Buffer.byteLength(file?.text ?? "") / 3.5 < 130);
  });
});
