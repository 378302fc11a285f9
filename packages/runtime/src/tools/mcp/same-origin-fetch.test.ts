import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { createSameOriginFetch } from "./same-origin-fetch.ts";

const server = createServer((request, response) => {
  if (request.url === "/begun") response.writeHead(200).write("more comes");
});
after(() => {
  server.closeAllConnections();
  server.close();
});

describe("requests to servers of tools", () => {
  it("wait as long as they are told, for the head of an answer and for what follows it", { timeout: 30_000 }, async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const fetch = createSameOriginFetch({ headersTimeout: 500, bodyTimeout: 500 });
    const causeOf = ({ cause }: Error): unknown => Object(cause).code;
    await assert.rejects(fetch(`${origin}/silent`), (error: Error) => causeOf(error) === "UND_ERR_HEADERS_TIMEOUT");
    const begun = await fetch(`${origin}/begun`);
    await assert.rejects(begun.text(), (error: Error) => causeOf(error) === "UND_ERR_BODY_TIMEOUT");
  });
});
