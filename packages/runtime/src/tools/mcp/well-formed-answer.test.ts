import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OpenRequests, type RequestId } from "./open-requests.ts";
import type { McpMessage } from "./transport.ts";

function take(message: object, asked: readonly RequestId[] = [1, "two"], given: readonly RequestId[] = []): McpMessage {
  const requests = new OpenRequests();
  for (const id of [...given, ...asked]) requests.send({ jsonrpc: "2.0", method: "tools/call", id });
  for (const id of given) requests.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
  return requests.receive(message as McpMessage);
}
const failure = (id: string | number, message: string, code = -32603): object => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

describe("an answer of a server", () => {
  it("stays as it is where it is well made, and where nobody has asked", () => {
    const others = [
      { jsonrpc: "2.0", id: 1, result: { a: 1 } },
      { jsonrpc: "2.0", id: "two", error: { code: 7, message: "no", data: { more: true } } },
      { jsonrpc: "2.0", id: 9 },
      { jsonrpc: "2.0", method: "notifications/progress", params: {} },
      { jsonrpc: "2.0", id: 1, method: "roots/list" },
    ];
    for (const message of others) assert.deepEqual(take(message), message);
  });

  const cases: readonly (readonly [string, object, object])[] = [
    ["without a result", { jsonrpc: "2.0", id: 1 }, failure(1, "The server's answer has neither a result nor an error")],
    [
      "with nothing as its result",
      { id: 1, result: null },
      failure(1, "The server's answer has a result that is no object: null"),
    ],
    ["with a text", { id: 1, result: "done" }, failure(1, 'The server\'s answer has a result that is no object: "done"')],
    ["with a list", { id: 1, result: [1] }, failure(1, "The server's answer has a result that is no object: [1]")],
    ["with a result and an error", { id: 1, result: {}, error: { code: 1, message: "x" } }, failure(1, "x", 1)],
    ["with a result and no error", { id: 1, result: {}, error: null }, { jsonrpc: "2.0", id: 1, result: {} }],
    ["with an error that is a text", { id: 1, error: "broken" }, failure(1, "broken")],
    ["with an error without words", { id: 1, error: { code: "E1" } }, failure(1, '{"code":"E1"}')],
    ["without its version", { id: "two", result: {} }, { jsonrpc: "2.0", id: "two", result: {} }],
    ["with its number as a text", { id: "1", result: {} }, { jsonrpc: "2.0", id: 1, result: {} }],
  ];
  for (const [what, message, expected] of cases)
    it(`${what} becomes one that can be read`, () => assert.deepEqual(take(message), expected));

  it("to no request that was made is the end of the only one that waits", () => {
    const another = failure(7, 'The server answered another request, with the id "x"');
    assert.deepEqual(take({ jsonrpc: "2.0", id: "x", result: {} }, [7]), another);
    assert.deepEqual(take({ jsonrpc: "2.0", id: 8, result: {} }, [7]).id, 7);
    assert.deepEqual(take({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "no" } }, [7]), failure(7, "no", -32700));
  });

  it("is left alone where it may be late, for another, or a line of a log", () => {
    const late = { jsonrpc: "2.0", id: 3, result: {} };
    assert.equal(take(late, [7], [3]), late);
    const odd = { jsonrpc: "2.0", id: "x", result: {} };
    assert.equal(take(odd, [7, 8]), odd);
    for (const line of [
      { level: "info", error: "x" },
      { id: "x", result: {} },
      { jsonrpc: "2.0", id: null },
      { jsonrpc: "2.0", id: 99 },
    ])
      assert.equal(take(line, [7]), line);
  });
});
