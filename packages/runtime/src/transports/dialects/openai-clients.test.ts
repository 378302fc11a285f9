import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import OpenAI from "openai";
import { SessionHost } from "../../hosting/session-host.ts";
import { surroundingsOf } from "../../hosting/surroundings.ts";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import { createDialectHost } from "./dialect-host.ts";
import { createDialects } from "./serve-dialects.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-dialects-")));
after(() => rmSync(top, { recursive: true, force: true }));

/** The official client; what would go through a socket is handed over. */
function connect(replies: readonly ScriptStep[]) {
  const provider = createScriptedProvider(replies);
  const around = surroundingsOf({ HOME: top, OUTRIDER_HOME: mkdtempSync(join(top, "home-")) });
  const host = new SessionHost({ around, defaults: { provider, bare: true, cwd: top } });
  after(() => host.shutdown());
  const dialects = createDialects(createDialectHost({ host, version: "1.2.3" }), () => 5_000);
  const client = new OpenAI({
    apiKey: "none",
    baseURL: "http://127.0.0.1/v1",
    maxRetries: 0,
    fetch: async (url, init) =>
      (await dialects.fetch(new Request(url, init as RequestInit))) ?? new Response("", { status: 404 }),
  });
  return { client, provider, dialects };
}

const look: ScriptStep = {
  reasoning: "I look.",
  calls: [{ name: "Glob", input: { pattern: "*.none" } }],
  usage: { inputTokens: 7, outputTokens: 3 },
};
const answer: ScriptStep = { text: "Nothing there.", usage: { inputTokens: 10, outputTokens: 2 } };
const usage = {
  ...{ prompt_tokens: 17, completion_tokens: 5, total_tokens: 22 },
  ...{ prompt_tokens_details: { cached_tokens: 0 }, completion_tokens_details: { reasoning_tokens: 0 } },
};
const messages = [{ role: "user", content: "look" }] as const;

describe("OpenAI's client, chat completions", () => {
  it("gets the answer in one, and tool work as reasoning and never as calls", async () => {
    const { client } = connect([look, answer]);
    const completion = await client.chat.completions.create({ model: "default", messages: [...messages] });
    const { message, finish_reason: finish } = completion.choices[0] ?? assert.fail();
    assert.deepEqual([message.content, message.tool_calls, finish, completion.created], ["Nothing there.", undefined, "stop", 5]);
    assert.match(
      (message as unknown as { reasoning_content: string }).reasoning_content,
      /I look\.[\s\S]*\[Glob \{"pattern":"\*\.none"\}\]/,
    );
    assert.deepEqual(completion.usage, usage);
  });

  it("gets it piece by piece, and what was used when it asks for that", async () => {
    const { client } = connect([look, answer]);
    const chunks = await client.chat.completions.create({
      ...{ model: "default", messages: [...messages], stream: true, stream_options: { include_usage: true } },
    });
    let text = "";
    let last: unknown;
    const finishes: (string | null)[] = [];
    for await (const chunk of chunks) {
      text += chunk.choices[0]?.delta.content ?? "";
      for (const { finish_reason: finish, delta } of chunk.choices) {
        finishes.push(finish);
        assert.equal(delta.tool_calls, undefined);
      }
      last = chunk.usage;
    }
    assert.deepEqual([text, last], ["Nothing there.", usage]);
    assert.deepEqual(
      finishes.filter((finish) => finish !== null),
      ["stop"],
    );
  });

  it("goes on with a session by its header, and tells an earlier conversation to a new one", async () => {
    const { client, provider } = connect([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
    const first = await client.chat.completions.create({ model: "default", messages: [...messages] }).withResponse();
    const id = first.response.headers.get("x-session-id") ?? "";
    const talk = [
      { role: "system", content: "be brief" },
      { role: "user", content: "the blue door" },
      { role: "assistant", content: "noted" },
      { role: "user", content: "and now?" },
    ] as const;
    await client.chat.completions.create({ model: "default", messages: [...talk] }, { headers: { "x-session-id": id } });
    await client.chat.completions.create({ model: "default", messages: [...talk] });
    const [, second, third] = provider.requests.map(({ messages: asked }) => JSON.stringify(asked));
    assert.match(second ?? "", /look[\s\S]*One\.[\s\S]*and now\?/);
    assert.doesNotMatch(second ?? "", /blue door/);
    assert.match(third ?? "", /be brief[\s\S]*user: the blue door[\s\S]*assistant: noted[\s\S]*and now\?/);
  });

  it("is told what is wrong with a request, and that the model failed", async () => {
    const { client } = connect([{ fail: { code: "provider-unavailable", message: "boom" } }]);
    const tools = [{ type: "function", function: { name: "x" } }] as const;
    await assert.rejects(
      client.chat.completions.create({ model: "default", messages: [...messages], tools: [...tools] }),
      /400 tools cannot be given/,
    );
    await assert.rejects(
      client.chat.completions.create({ model: "default", messages: [] }),
      /400 There is no message of the user/,
    );
    const chunks = await client.chat.completions.create({ model: "default", messages: [...messages], stream: true });
    await assert.rejects(async () => {
      for await (const _ of chunks);
    }, /boom/);
  });
});

describe("OpenAI's client, responses", () => {
  it("gets the answer in one, and goes on from it", async () => {
    const { client, provider } = connect([look, answer, { text: "Still nothing." }]);
    const first = await client.responses.create({ model: "default", input: "look" });
    assert.deepEqual([first.output_text, first.status, first.usage?.total_tokens], ["Nothing there.", "completed", 22]);
    assert.ok(first.output.every(({ type }) => type === "message" || type === "reasoning"));
    const second = await client.responses.create({ model: "default", input: "again", previous_response_id: first.id });
    assert.equal(second.output_text, "Still nothing.");
    assert.match(JSON.stringify(provider.requests.at(-1)?.messages), /look[\s\S]*again/);
    await assert.rejects(client.responses.create({ model: "default", input: "x", previous_response_id: "odd" }), /404/);
  });

  it("gets it piece by piece, in numbered events", async () => {
    const { client } = connect([look, answer]);
    const stream = client.responses.stream({ model: "default", input: "look" });
    const numbers: number[] = [];
    let text = "";
    for await (const event of stream) {
      numbers.push(event.sequence_number);
      if (event.type === "response.output_text.delta") text += event.delta;
    }
    assert.equal(text, "Nothing there.");
    assert.deepEqual(
      numbers,
      numbers.map((_, at) => at),
    );
    assert.equal((await stream.finalResponse()).output_text, "Nothing there.");
  });
});

describe("what is for nobody", () => {
  it("is left to others", async () => {
    const { dialects } = connect([]);
    const at = async (path: string, method = "POST") =>
      (await dialects.fetch(new Request(`http://127.0.0.1${path}`, { method, ...(method === "POST" && { body: "{" }) })))?.status;
    assert.deepEqual(
      [await at("/v1/odd"), await at("/v1/responses", "GET"), await at("/v1/responses")],
      [undefined, undefined, 400],
    );
  });
});

describe("OpenAI's client, what is said before", () => {
  const first = { role: "user", content: "look" } as const;

  it("is what the answer was made of, sent back as input", async () => {
    const { client, provider } = connect([look, answer, { text: "Still nothing." }]);
    const said = await client.responses.create({ model: "default", input: [first] });
    assert.ok(said.output.some(({ type }) => type === "reasoning"));
    const next = await client.responses.create({
      model: "default",
      input: [first, ...said.output, { role: "user", content: "again" }] as OpenAI.Responses.ResponseInput,
    });
    assert.equal(next.output_text, "Still nothing.");
    const told = JSON.stringify(provider.requests.at(-1)?.messages);
    assert.match(told, /user: look\\nassistant: Nothing there\./);
    assert.doesNotMatch(told, /I look/);
  });

  const refused: readonly [string, object, RegExp][] = [
    ["an item by its name", { input: [{ type: "item_reference", id: "x" }, first] }, /previous_response_id/],
    ["a conversation", { input: "go", conversation: "conv_1" }, /previous_response_id/],
    ["a stored prompt", { input: "go", prompt: { id: "p" } }, /instructions/],
    ["work in the background", { input: "go", background: true }, /goes on without/],
    ["a file", { input: [{ role: "user", content: [{ type: "input_file", file_data: "AAAA" }] }] }, /input_file/],
    [
      "an image from elsewhere",
      { input: [{ role: "user", content: [{ type: "input_image", image_url: "http://x/y.png" }] }] },
      /data: URL/,
    ],
  ];
  for (const [what, body, words] of refused)
    it(`is refused where it would be lost: ${what}`, async () => {
      const { client, provider } = connect([answer]);
      await assert.rejects(client.responses.create({ model: "default", ...body }), (error: Error & { status?: number }) => {
        assert.match(error.message, words);
        return error.status === 400;
      });
      assert.equal(provider.requests.length, 0);
    });
});
