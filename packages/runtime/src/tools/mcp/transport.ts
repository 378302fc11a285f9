/** One message of JSON-RPC. What it holds is checked by the client. */
export type McpMessage = {
  readonly jsonrpc: "2.0";
  readonly id?: string | number | undefined;
  readonly method?: string | undefined;
  readonly params?: object | undefined;
  readonly result?: object | undefined;
  readonly error?: object | undefined;
};

/** The way to a server: messages in both directions. The official SDK's in-memory transport is one, but it need not be installed. */
export interface McpTransport {
  /** Called once, when the three listeners are there. */
  start(): Promise<void>;
  send(message: McpMessage): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Receiver["receive"] | undefined;
}

/** As a method, so that one that takes only the SDK's own types of message is one too. */
type Receiver = { receive(message: McpMessage): void };
