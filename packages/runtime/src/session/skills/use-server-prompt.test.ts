import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { createScriptedProvider } from "../../model/scripted.ts";
import { textOf } from "../../protocol/content.ts";
import type { FilledPrompt, ServerPrompt, ServerPrompts } from "../../tools/mcp/server-prompt.ts";
import { InteractiveSession } from "../interactive-session.ts";

const cwd = mkdtempSync(join(tmpdir(), "outrider-server-prompts-"));
after(() => rmSync(cwd, { recursive: true, force: true }));

const review: ServerPrompt = {
  command: "mcp__desk__review",
  server: "desk",
  name: "review",
  arguments: [
    { name: "file", required: true },
    { name: "focus", required: false },
  ],
};

/** What one typed prompt comes to, with a server that fills in what it is given. */
async function type(text: string, fill: (values: Readonly<Record<string, string>>) => FilledPrompt = asWords) {
  const provider = createScriptedProvider([{ text: "done" }]);
  const asked: unknown[] = [];
  const serverPrompts: ServerPrompts = {
    list: () => [review],
    get: async (command, values) => {
      asked.push([command, values]);
      return fill(values);
    },
  };
  const session = new InteractiveSession({ cwd, provider, sessionStore: createMemoryStore(), serverPrompts });
  const outcome = await session.submit(text);
  await session.shutdown();
  const [request] = provider.requests;
  const sent = (request?.messages[0]?.content ?? []).map((part) => textOf([part] as Parameters<typeof textOf>[0]));
  return { asked, sent, said: outcome.type === "failed" ? outcome.error.message : outcome.text };
}

const asWords = (values: Readonly<Record<string, string>>): FilledPrompt => [
  { role: "user", content: [{ type: "text", text: `Review ${JSON.stringify(values)}` }] },
  { role: "assistant", content: [{ type: "text", text: "I will." }] },
];

describe("a prompt of a server", () => {
  it("takes words in their order, quotes hold some together, and the last argument takes the rest", async () => {
    const { asked, sent, said } = await type('/mcp__desk__review "my file.ts" all of it');
    const values = { file: "my file.ts", focus: "all of it" };
    assert.deepEqual([asked, said], [[["mcp__desk__review", values]], "done"]);
    assert.deepEqual(sent.slice(1), [`Review ${JSON.stringify(values)}`, "I will."]);
    assert.match(sent[0] ?? "", /<command-name>\/mcp__desk__review<\/command-name>/);
  });

  it("is asked for without the arguments that were not given", async () => {
    const { asked } = await type("/mcp__desk__review a.ts");
    assert.deepEqual(asked, [["mcp__desk__review", { file: "a.ts" }]]);
  });

  it("is not asked for while one is missing that it needs", async () => {
    const { asked, sent, said } = await type("/mcp__desk__review");
    assert.deepEqual([asked, sent], [[], []]);
    assert.equal(said, "Missing required argument: file. Usage: /mcp__desk__review file focus");
  });

  it("has failed when the server says nothing, or no", async () => {
    assert.equal((await type("/mcp__desk__review a", () => [])).said, "The MCP server desk gave no text for /mcp__desk__review");
    const refused = await type("/mcp__desk__review a", () => {
      throw new Error("no such file");
    });
    assert.deepEqual([refused.said, refused.sent], ["no such file", []]);
  });
});
