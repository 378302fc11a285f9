import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { decide } from "../../packages/runtime/src/permissions/decide.ts";
import { parseRule } from "../../packages/runtime/src/permissions/rules.ts";
import { createWebFetchTool, type WebFetchOptions } from "../../packages/runtime/src/tools/builtin/web-fetch.ts";
import { httpGet } from "../../packages/runtime/src/tools/http-get.ts";
import { createToolBench } from "../support/tool-bench.ts";
import type { CaseTable, CaseTest } from "./case-table.ts";
import { runScripted } from "./scripted-run.ts";

/** Refused by the tool, and no socket was opened for it. */
const refused =
  (reason: RegExp, options: WebFetchOptions = {}): CaseTest =>
  async ({ input }, test) => {
    const { said, sockets } = await fetchCounting(String(input), options, test);
    assert.match(said, reason);
    assert.equal(sockets, 0);
  };

const neverAsked: WebFetchOptions = { resolve: async (host) => assert.fail(`the resolver was asked for ${host}`) };
const notPublic = /is not on the public internet/;

/** What a rule for one host says about the address, as the tool itself spells it. */
const asked: CaseTest = async ({ given, input }) => {
  const { resources } = await createWebFetchTool().access({ url: String(input) }, createToolBenchWorkspace);
  const allow = Array.isArray(given["allow_domains"]) ? given["allow_domains"] : [];
  const policy = {
    mode: "default" as const,
    allow: allow.map((domain) => parseRule(`WebFetch(domain:${domain})`)),
    ask: [],
    deny: [],
    base: { root: "/repo/proj", home: "/home/me" },
    readable: [],
    inertGit: async () => "/inert",
  };
  assert.ok(policy.allow.length > 0);
  const decision = await decide(
    policy,
    resources.map((resource) => ({ tool: "WebFetch", kind: "reach", resource })),
  );
  assert.equal(decision.effect, "ask");
  const allowed = await decide(policy, [{ tool: "WebFetch", kind: "reach", resource: `https://${allow[0]}/x` }]);
  assert.equal(allowed.effect, "allow", "the rule itself works");
};

// `access` of WebFetch looks at its input only.
const createToolBenchWorkspace = {} as Parameters<ReturnType<typeof createWebFetchTool>["access"]>[1];

export const webFetchCases: CaseTable = {
  WF002: refused(notPublic, neverAsked),
  WF003: refused(notPublic, neverAsked),
  WF007: refused(notPublic, neverAsked),
  WF009: refused(notPublic, neverAsked),
  WF011: refused(notPublic, neverAsked),
  WF012: refused(notPublic, neverAsked),
  WF013: refused(notPublic, neverAsked),
  WF016: refused(/no valid URL/, neverAsked),
  WF017: refused(notPublic, { resolve: async () => [{ address: "127.0.0.1", family: 4 }] }),
  WF018: refused(/Only http and https/, neverAsked),
  WF019: refused(/Only http and https/, neverAsked),
  WF020: refused(/user name or password/, neverAsked),

  async WF021(_one, test) {
    const server = await listen(test, "http://169.254.169.254/");
    // The first hop stands for a public one: from the second on the ordinary rules hold.
    let asked = 0;
    const options = {
      url: new URL(`http://127.0.0.1:${portOf(server)}/`),
      signal: new AbortController().signal,
      maxBytes: 1000,
      get allowPrivate() {
        return asked++ < 2;
      },
      wantsBody: () => true,
    };
    await assert.rejects(httpGet(options), /169\.254\.169\.254 is not on the public internet/);
  },

  async WF022(_one, test) {
    const server = await listen(test);
    const answers = ["127.0.0.1", "127.0.0.99"];
    const rebinding: WebFetchOptions = {
      allowPrivate: true,
      resolve: async () => [{ address: answers.shift() ?? assert.fail("looked up a second time"), family: 4 }],
    };
    const { said } = await fetchCounting(`http://rebind.example:${portOf(server)}/`, rebinding, test);
    assert.deepEqual([said, answers], ["the page", ["127.0.0.99"]]);
  },

  WF024: asked,
  WF025: asked,

  async WF026(_one, test) {
    const away = await listen(test);
    let reached = 0;
    away.on("request", () => reached++);
    const elsewhere = `http://127.0.0.2:${portOf(away)}/?q=secret`;
    const server = await listen(test, elsewhere);
    const { said } = await fetchCounting(`http://127.0.0.1:${portOf(server)}/redirect`, { allowPrivate: true }, test);
    assert.match(said, /redirects to another host and was not followed/);
    assert.ok(said.includes(elsewhere), "the model gets the address, and needs permission for it");
    assert.equal(reached, 0);
  },

  async WF031(_one, test) {
    const proxy = await listen(test);
    let reached = 0;
    proxy.on("connection", () => reached++);
    // Proxies are for models. WebFetch connects by itself, so that the address it checked is the one it uses.
    const ran = await runScripted(test, {
      replies: [{ calls: [{ name: "WebFetch", input: { url: `https://127.0.0.1:${portOf(proxy)}/` } }] }, { text: "done" }],
      args: ["--allowedTools", "WebFetch"],
      env: { HTTPS_PROXY: `http://127.0.0.1:${portOf(proxy)}`, https_proxy: `http://127.0.0.1:${portOf(proxy)}` },
    });
    assert.match(JSON.stringify(ran.requests.at(-1)), notPublic);
    assert.equal(reached, 0);
  },
};

async function fetchCounting(
  url: string,
  options: WebFetchOptions,
  test: TestContext,
): Promise<{ said: string; sockets: number }> {
  const bench = createToolBench();
  test.after(() => bench.close());
  let sockets = 0;
  const count = (): void => {
    sockets++;
  };
  subscribe("net.client.socket", count);
  try {
    return { said: await bench.say(createWebFetchTool(options), { url }), sockets };
  } finally {
    unsubscribe("net.client.socket", count);
  }
}

async function listen(test: TestContext, location?: string): Promise<Server> {
  const server = createServer((_request, response) => {
    if (location === undefined) response.writeHead(200, { "content-type": "text/plain" }).end("the page");
    else response.writeHead(302, { location }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port; // it listens on a port
}
