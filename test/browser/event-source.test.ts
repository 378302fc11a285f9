import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { findBrowser, openBrowser } from "./browser.ts";
import { LiveGround } from "./live-ground.ts";

/** A browser's own EventSource sends no token: a proxy on the way to the server adds it, as one that knows its users does. */
describe("the EventSource of a browser", { skip: findBrowser() === undefined && "there is no Chromium here" }, () => {
  const ground = new LiveGround((prompt) => ({ text: `You said: ${prompt}` }));
  const open = new Set<ServerResponse>();
  const asked: (string | undefined)[] = [];
  let browser: Browser;
  let proxy: Server;
  before(async () => {
    browser = await openBrowser();
    await ground.start();
    proxy = createServer((incoming, response) => {
      if (incoming.url === "/")
        return void response.setHeader("content-type", "text/html").end("<!doctype html><title>mine</title>");
      if (incoming.url?.includes("/events")) asked.push(incoming.headers["last-event-id"] as string | undefined);
      open.add(response);
      const headers = { ...incoming.headers, host: new URL(ground.url).host, authorization: `Bearer ${ground.token}` };
      const onward = request(`${ground.url}${incoming.url}`, { method: incoming.method ?? "GET", headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.on("error", () => response.destroy()).pipe(response);
      });
      response.on("close", () => onward.destroy());
      onward.on("error", () => response.destroy()).end();
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  });
  after(async () => {
    await browser?.close();
    proxy?.closeAllConnections();
    proxy?.close();
    await ground.end();
  });

  test("hears each stored event once, also after a break, from which it comes back by itself", async () => {
    const { client } = ground;
    const { id } = await client.createSession({});
    await client.prompt(id, "one");
    const page = await (await browser.newContext()).newPage();
    await page.goto(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`);
    await page.evaluate(`
      globalThis.heard = [];
      globalThis.source = new EventSource("/v1/sessions/${id}/events?after=0&deltas=false");
      source.onmessage = ({ lastEventId, data }) => heard.push({ id: lastEventId, ...JSON.parse(data) });
    `);
    const turns = (count: number) =>
      page.waitForFunction(`heard.filter(({ type }) => type === "turn.ended").length === ${count}`, undefined, {
        timeout: 30_000,
      });
    await turns(1);
    for (const response of open) response.destroy();
    await client.prompt(id, "two"); // while nobody listens
    await turns(2);
    await client.prompt(id, "three");
    await turns(3);
    const heard = (await page.evaluate("heard.map(({ id }) => id).filter((id) => id !== '')")) as string[];
    const journal = readFileSync(join(ground.home, "sessions", `${id}.jsonl`), "utf8")
      .trim()
      .split("\n");
    const stored = journal.map((line) => String((JSON.parse(line) as { seq: number }).seq));
    assert.deepEqual(heard, stored);
    assert.equal(asked[0], undefined);
    assert.ok(Number(asked[1]) > 0, "it comes back with the number of the last event it has");
  });
});
