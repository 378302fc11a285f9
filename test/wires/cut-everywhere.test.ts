import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { after, describe, it } from "node:test";
import type { Provider } from "../../packages/runtime/src/model/model.ts";
import { createProvider } from "../../packages/runtime/src/model/providers/create-provider.ts";
import { requireProvider } from "../../packages/runtime/src/model/providers/definitions.ts";
import { InteractiveSession } from "../../packages/runtime/src/session/interactive-session.ts";
import { type ModelServer, type ServerReply, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { defineTool } from "../../packages/runtime/src/tools/tool.ts";

const wires: { wire: string; provider: string; model: string; options?: { apiSurface: string } }[] = [
  { wire: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-6" },
  { wire: "openai-chat", provider: "openai", model: "gpt-5.5", options: { apiSurface: "chat-completions" } },
  { wire: "openai-responses", provider: "openai", model: "gpt-5.5", options: { apiSurface: "responses" } },
  { wire: "gemini", provider: "gemini", model: "gemini-3-flash" },
];

const answer: ServerReply = {
  reasoning: "Both.",
  text: "Counting.",
  calls: [
    { name: "Count", input: { by: 1, why: "é\u2028" } },
    { name: "Count", input: { by: 2 } },
  ],
};

/** A tool-calling answer that breaks off after `cut` bytes, once; then everything goes well. */
async function runWithCut(
  setup: (typeof wires)[number],
  cut: number,
): Promise<{ counted: number[]; ends: number; text: string; requests: number }> {
  const server = await startModelServer({
    replies: [{ ...answer, dropAfterBytes: cut }, answer, { text: "Done." }, { text: "Done." }],
  });
  const counted: number[] = [];
  const session = new InteractiveSession({
    cwd: tmpdir(),
    provider: await connect(setup, server),
    tools: [
      defineTool<{ by: number }>({
        name: "Count",
        description: "Counts",
        inputSchema: { type: "object", properties: { by: { type: "number" }, why: { type: "string" } }, required: ["by"] },
        concurrent: false,
        access: async () => ({ kind: "note", resources: [] }),
        execute: async ({ by }) => {
          counted.push(by);
          return { content: [{ type: "text", text: "counted" }] };
        },
      }),
    ],
  });
  let ends = 0;
  session.on("complete", () => ends++);
  session.on("error", () => ends++);
  session.on("interrupted", () => ends++);
  const outcome = await session.submit("count");
  await session.shutdown();
  await server.close();
  return { counted, ends, text: outcome.text, requests: server.requests.length };
}

async function connect({ provider, model, options }: (typeof wires)[number], server: ModelServer): Promise<Provider> {
  const created = await createProvider(requireProvider(provider), {
    apiKey: "k",
    baseURL: server.url,
    model,
    env: {},
    retry: { baseDelayMs: 1, maxDelayMs: 1 },
    ...(options && { options }),
  });
  after(() => created.close());
  return created;
}

/** Every byte of the answer: its length is found by asking for it once. */
async function lengthOf(setup: (typeof wires)[number]): Promise<number> {
  const server = await startModelServer({ replies: [answer] });
  const paths: Record<string, string> = {
    "anthropic-messages": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    gemini: `/v1beta/models/${setup.model}:streamGenerateContent?alt=sse`,
  };
  const response = await fetch(`${server.url}${paths[setup.wire]}`, {
    method: "POST",
    body: JSON.stringify({ model: setup.model, messages: [], stream: true }),
  });
  const { length } = Buffer.from(await response.arrayBuffer());
  await server.close();
  return length;
}

/** Every byte takes minutes: `OUTRIDER_EVERY_BYTE=1`. */
const step = process.env["OUTRIDER_EVERY_BYTE"] === "1" ? 1 : 4;

describe("an answer that calls tools, cut anywhere", () => {
  for (const setup of wires) {
    it(`runs each tool once and ends once: ${setup.wire}`, { timeout: 300_000 }, async (context) => {
      const length = await lengthOf(setup);
      const wrong: unknown[] = [];
      // Eight at a time: each is a session, a server and three requests of its own.
      for (let start = 0; start < length; start += 8 * step) {
        const cuts = Array.from({ length: 8 }, (_, index) => start + index * step).filter((cut) => cut < length);
        const runs = await Promise.all(cuts.map(async (cut) => ({ cut, ...(await runWithCut(setup, cut)) })));
        for (const run of runs) {
          const right = run.counted.join() === "1,2" && run.ends === 1 && run.text === "Done.";
          if (!right) wrong.push(run);
        }
      }
      assert.deepEqual(wrong.slice(0, 3), []);
      context.diagnostic(`${Math.ceil(length / step)} cut points`);
      assert.ok(length > 500, `${length} bytes`);
    });
  }
});
