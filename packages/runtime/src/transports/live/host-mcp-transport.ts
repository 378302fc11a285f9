import type { JsonObject, JsonValue } from "../../protocol/content.ts";
import type { McpMessage, McpTransport } from "../../tools/mcp/transport.ts";
import type { ControlChannel } from "./control-channel.ts";

/** An MCP server that lives in the host: every message is a question on the control channel. */
export class HostMcpTransport implements McpTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: McpMessage) => void;
  readonly #server: string;
  readonly #channel: ControlChannel;
  readonly #closing = new AbortController();

  constructor(server: string, channel: ControlChannel) {
    this.#server = server;
    this.#channel = channel;
  }

  async start(): Promise<void> {}

  async send(message: McpMessage): Promise<void> {
    const asked = this.#channel.ask(
      { subtype: "mcp_message", server_name: this.#server, message: message as unknown as JsonValue }, // JSON by the protocol
      this.#closing.signal,
    );
    const isRequest = "id" in message && "method" in message;
    asked.then(
      ({ mcp_response: answer }) => isRequest && this.receive(answer),
      (error: Error) => (isRequest ? this.#fail(message, error) : this.onerror?.(error)),
    );
  }

  /** Something the server says, asked or not. */
  receive(message: JsonValue | undefined): void {
    // The client checks what it is given.
    if (typeof message === "object" && message !== null) this.onmessage?.(message as unknown as McpMessage);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.onclose?.();
  }

  /** A question that the host did not answer is answered with its failure, so that nobody waits for it. */
  #fail(request: McpMessage, error: Error): void {
    const { id } = request as unknown as JsonObject;
    this.receive({ jsonrpc: "2.0", id: id ?? null, error: { code: -32_603, message: error.message } });
  }
}
