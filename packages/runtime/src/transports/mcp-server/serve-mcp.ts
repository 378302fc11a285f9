import type { Readable, Writable } from "node:stream";
import type { McpHost } from "./mcp-host.ts";
import { createMcpServers } from "./mcp-server.ts";
import { createMcpHandler, serveStdio, StdioServerTransport } from "./official-server.ts";

export type McpStdioOptions = {
  readonly input: Readable;
  readonly output: Writable;
  /** Hears what cannot be told to the client. */
  readonly warn: (line: string) => void;
};

/** Serves one client over lines until its input ends. What runs then is for the caller to end. */
export async function serveMcpStdio(host: McpHost, { input, output, warn }: McpStdioOptions): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    for (const name of ["end", "close", "error"]) input.once(name, resolve);
    output.once("error", resolve);
  });
  const handle = serveStdio(createMcpServers(host), {
    transport: new StdioServerTransport(input, output),
    onerror: ({ message }) => warn(message),
  });
  await ended;
  await handle.close();
}

export type McpEndpoint = {
  /** One request of streamable HTTP, of either era, to its response. Who may ask is for the caller to check. */
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
};

/**
 * The same over HTTP: requests as the web knows them. Clients of the older era are served without sessions of the protocol, so they cannot be asked
 * for permission; those of the new era can.
 */
export function createMcpEndpoint(host: McpHost, warn: (line: string) => void = () => {}): McpEndpoint {
  const { fetch, close } = createMcpHandler(createMcpServers(host), { onerror: ({ message }) => warn(message) });
  return { fetch: (request) => fetch(request), close };
}
