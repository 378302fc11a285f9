import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { createSearchBackend, type SearchEngineName } from "./search-engines.ts";

type Asked = { method: string; url: string; headers: Record<string, unknown>; body: unknown };

describe("search engines", () => {
  let server: Server;
  let url = "";
  let asked: Asked | undefined;
  let answer: { status: number; body: string } = { status: 200, body: "{}" };
  before(async () => {
    server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const text = Buffer.concat(parts).toString();
        asked = {
          method: request.method ?? "",
          url: request.url ?? "",
          headers: request.headers,
          body: text && JSON.parse(text),
        };
        response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  });
  after(() => server.close());

  const search = (engine: SearchEngineName, body: unknown, status = 200) => {
    answer = { status, body: typeof body === "string" ? body : JSON.stringify(body) };
    const backend = createSearchBackend({ engine, apiKey: "the-key", model: "a-model", url: `${url}/` });
    return backend({
      query: "birds",
      allowedDomains: ["a.org", "b.org"],
      blockedDomains: ["c.org"],
      signal: new AbortController().signal,
    });
  };
  const one = { title: "One", url: "https://a.org/1" };

  it("brave is asked with its token and answers with descriptions", async () => {
    const found = await search("brave", { web: { results: [{ ...one, description: "<strong>Birds</strong> of  a kind" }] } });
    assert.deepEqual(found, [{ ...one, snippet: "Birds of a kind" }]);
    assert.deepEqual(
      [asked?.method, new URL(asked?.url ?? "", url).searchParams.get("q"), asked?.headers["x-subscription-token"]],
      ["GET", "birds (site:a.org OR site:b.org) -site:c.org", "the-key"],
    );
  });

  it("searxng is asked for JSON", async () => {
    assert.deepEqual(await search("searxng", { results: [{ ...one, content: "Birds" }, { title: "no address" }] }), [
      { ...one, snippet: "Birds" },
    ]);
    assert.match(asked?.url ?? "", /^\/search\?q=birds.*&format=json$/);
  });

  it("tavily and exa are given the domains", async () => {
    assert.deepEqual(await search("tavily", { results: [{ ...one, content: "Birds" }] }), [{ ...one, snippet: "Birds" }]);
    assert.deepEqual(
      [asked?.method, asked?.headers["authorization"], asked?.body],
      [
        "POST",
        "Bearer the-key",
        { query: "birds", max_results: 10, include_domains: ["a.org", "b.org"], exclude_domains: ["c.org"] },
      ],
    );
    assert.deepEqual(await search("exa", { results: [{ url: "https://a.org/2", text: "Birds" }] }), [
      { title: "https://a.org/2", url: "https://a.org/2", snippet: "Birds" },
    ]);
    assert.deepEqual([asked?.headers["x-api-key"], Object(asked?.body).includeDomains], ["the-key", ["a.org", "b.org"]]);
  });

  it("anthropic has a model search, and tells what it quotes", async () => {
    const found = await search("anthropic", {
      content: [
        { type: "server_tool_use", id: "s", name: "web_search", input: {} },
        { type: "web_search_tool_result", content: [{ type: "web_search_result", ...one }, one, { url: "https://b.org" }] },
        {
          type: "text",
          text: "x",
          citations: [
            { url: one.url, cited_text: "Birds fly." },
            { url: "https://z.org", cited_text: "no" },
          ],
        },
      ],
    });
    assert.deepEqual(found, [
      { ...one, snippet: "Birds fly." },
      { title: "https://b.org", url: "https://b.org" },
    ]);
    const { model, tools, messages } = Object(asked?.body);
    assert.deepEqual([asked?.url, asked?.headers["x-api-key"], model], ["/v1/messages", "the-key", "a-model"]);
    assert.deepEqual(tools, [
      { type: "web_search_20250305", name: "web_search", max_uses: 1, allowed_domains: ["a.org", "b.org"] },
    ]);
    assert.match(messages[0].content, /\n---\nbirds\n---$/);
    assert.deepEqual(
      await search("anthropic", { content: [{ type: "web_search_tool_result", content: { error_code: "x" } }] }),
      [],
    );
    const backend = createSearchBackend({ engine: "anthropic", url });
    await backend({ query: "q", blockedDomains: ["c.org"], signal: new AbortController().signal });
    assert.deepEqual(Object(asked?.body).tools[0].blocked_domains, ["c.org"]);
  });

  it("openai has a model search, and tells the words in front of a citation", async () => {
    const text = "Some things.\nBirds fly (a.org).";
    const annotations = [
      { type: "url_citation", ...one, start_index: text.indexOf(" (a") },
      { type: "file_citation", url: "x" },
    ];
    const found = await search("openai", {
      output: [
        { type: "web_search_call", status: "completed" },
        { type: "message", content: [{ type: "output_text", text, annotations }] },
      ],
    });
    assert.deepEqual(found, [{ ...one, snippet: "Birds fly" }]);
    const { model, tools, store } = Object(asked?.body);
    assert.deepEqual(
      [asked?.url, asked?.headers["authorization"], model, store],
      ["/responses", "Bearer the-key", "a-model", false],
    );
    assert.deepEqual(tools, [{ type: "web_search", filters: { allowed_domains: ["a.org", "b.org"] } }]);
  });

  it("gemini grounds an answer, and tells what the pages are there for", async () => {
    const found = await search("gemini", {
      candidates: [
        {
          groundingMetadata: {
            groundingChunks: [{ web: { title: "One", uri: one.url } }, { web: { uri: "https://b.org" } }, {}],
            groundingSupports: [
              { segment: { text: "Birds fly." }, groundingChunkIndices: [0] },
              { segment: { text: "Fish do not." }, groundingChunkIndices: [1] },
              { groundingChunkIndices: [0] },
            ],
          },
        },
      ],
    });
    assert.deepEqual(found, [
      { ...one, snippet: "Birds fly." },
      { title: "https://b.org", url: "https://b.org", snippet: "Fish do not." },
    ]);
    assert.deepEqual([asked?.url, asked?.headers["x-goog-api-key"]], ["/models/a-model:generateContent", "the-key"]);
    assert.deepEqual(Object(asked?.body).tools, [{ googleSearch: {} }]);
    assert.deepEqual(await search("gemini", { candidates: [] }), []);
  });

  for (const [status, body, said] of [
    [401, "{}", /brave said 401 \(it does not accept the key/],
    [429, "{}", /brave said 429 \(too many searches for now\)/],
    [500, "the-key", /brave said 500 \(it answered with an error\)/],
    [200, "<html>", /what brave answered is no JSON/],
  ] as const)
    it(`that answer ${status} with ${body} are told in words, without the key`, async () => {
      await assert.rejects(
        search("brave", body, status),
        (error: Error) => said.test(error.message) && !error.message.includes("the-key"),
      );
    });

  it("that cannot be reached are told in words", async () => {
    const backend = createSearchBackend({ engine: "searxng", url: "http://127.0.0.1:9" });
    await assert.rejects(backend({ query: "birds", signal: new AbortController().signal }), /searxng could not be reached \(/);
  });
});
