import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../protocol/content.ts";
import type { McpMessage } from "../../tools/mcp/transport.ts";
import { ControlChannel } from "./control-channel.ts";
import { HostMcpTransport } from "./host-mcp-transport.ts";

function open(): {
  channel: ControlChannel;
  sent: JsonObject[];
  transport: HostMcpTransport;
  heard: McpMessage[];
  errors: Error[];
} {
  const sent: JsonObject[] = [];
  let count = 0;
  const channel = new ControlChannel({ send: (frame) => sent.push(frame), newId: () => `q${++count}` });
  const transport = new HostMcpTransport("calculator", channel);
  const heard: McpMessage[] = [];
  const errors: Error[] = [];
  transport.onmessage = (message) => void heard.push(message);
  transport.onerror = (error) => void errors.push(error);
  return { channel, sent, transport, heard, errors };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const list: McpMessage = { jsonrpc: "2.0", id: 1, method: "tools/list" };

describe("HostMcpTransport", () => {
  it("asks the host, and hands its answer on", async () => {
    const { channel, sent, transport, heard } = open();
    await transport.send(list);
    assert.deepEqual(sent, [
      {
        type: "control_request",
        request_id: "q1",
        request: { subtype: "mcp_message", server_name: "calculator", message: { jsonrpc: "2.0", id: 1, method: "tools/list" } },
      },
    ]);
    channel.settle("q1", { type: "success", response: { mcp_response: { jsonrpc: "2.0", id: 1, result: { tools: [] } } } });
    await settled();
    assert.deepEqual(heard, [{ jsonrpc: "2.0", id: 1, result: { tools: [] } }]);
  });

  it("does not take the receipt of a notification for an answer", async () => {
    const { channel, transport, heard } = open();
    await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    channel.settle("q1", { type: "success", response: { mcp_response: { jsonrpc: "2.0", id: 0, result: {} } } });
    await settled();
    assert.deepEqual(heard, []);
  });

  it("answers a question that fails with the failure, so that nobody waits", async () => {
    const { channel, transport, heard } = open();
    await transport.send(list);
    channel.settle("q1", { type: "error", message: "there is no such server" });
    await settled();
    assert.deepEqual(heard, [{ jsonrpc: "2.0", id: 1, error: { code: -32_603, message: "there is no such server" } }]);
  });

  it("the same when the host is gone", async () => {
    const { channel, transport, heard } = open();
    await transport.send(list);
    channel.close();
    await settled();
    assert.equal(heard.length, 1);
    assert.ok("error" in (heard[0] ?? {}));
  });

  it("hands on what the server says by itself, and nothing that is no message", () => {
    const { transport, heard } = open();
    transport.receive({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    transport.receive("nonsense");
    transport.receive(undefined);
    assert.equal(heard.length, 1);
  });

  it("withdraws its questions when it is closed", async () => {
    const { sent, transport } = open();
    let closed = 0;
    transport.onclose = () => {
      closed++;
    };
    await transport.send(list);
    await transport.close();
    await settled();
    assert.deepEqual(sent.at(-1), { type: "control_cancel_request", request_id: "q1" });
    assert.equal(closed, 1);
  });

  it("tells what goes wrong with a notification", async () => {
    const { channel, transport, errors } = open();
    await transport.send({ jsonrpc: "2.0", method: "notifications/cancelled" });
    channel.settle("q1", { type: "error", message: "not me" });
    await settled();
    assert.match(errors[0]?.message ?? "", /not me/);
  });
});
