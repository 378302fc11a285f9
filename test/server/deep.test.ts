import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ground, type Json } from "./ground.ts";

const lists = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const foreign = ["/v1/chat/completions", "/v1/responses", "/v1/sessions/new/chat", "/v1/ag-ui", "/v1/a2a", "/mcp"];

describe("a body nested too deeply", () => {
  it("is refused on every path that takes one, before anything is done with it, and keeps nobody waiting", async () => {
    const ground = await new Ground([{ text: "never" }]).start();
    const id = await ground.session();
    const { paths } = (await ground.ask("GET", "/openapi.json")).json;
    const own = Object.entries(paths as Json).flatMap(([path, operations]) =>
      Object.entries(operations as Json).flatMap(([method, operation]) =>
        (operation as Json).requestBody ? [[method.toUpperCase(), path.replace("{id}", id).replace(/\{\w+\}/g, "none")]] : [],
      ),
    );
    assert.ok(own.length > 10);
    const headers = { accept: "application/json, text/event-stream" };
    for (const [method = "", path = ""] of [...own, ...foreign.map((one) => ["POST", one])])
      for (const body of [lists(600), `{"params":${lists(100_000)}}`, `{"jsonrpc":"2.0","id":1,"z":${"[".repeat(8_000_000)}`]) {
        const { status, json } = await ground.ask(method, path, { body, headers });
        assert.deepEqual([status, json.detail], [400, "The body is nested more than 500 levels deep"], `${method} ${path}`);
      }
    assert.deepEqual(ground.warnings, []);
    assert.equal((await ground.ask("GET", "/v1/sessions")).json.sessions.length, 1);
  });
});
