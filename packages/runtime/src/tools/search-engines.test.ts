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
    const backend = createSearchBackend({ engine, apiKey: "the-key", url });
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
