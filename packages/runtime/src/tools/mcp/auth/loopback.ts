import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { AskPerson } from "./login-ways.ts";

/** A page of this machine that a browser is sent back to at the end of a login. */
export interface Loopback {
  readonly redirectUrl: string;
  /** The address that the browser was sent back to. */
  readonly visited: Promise<URL>;
  close(): Promise<void>;
}

const path = "/callback";

/** Listens on this machine alone, on the given port or a free one. */
export async function openLoopback(port = 0): Promise<Loopback> {
  let visit: (url: URL) => void = () => {};
  const visited = new Promise<URL>((resolve) => {
    visit = resolve;
  });
  const { createServer } = process.getBuiltinModule("node:http");
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    if (request.method !== "GET" || url.pathname !== path) return void response.writeHead(404).end();
    const isRefused = url.searchParams.has("error");
    response.writeHead(200, { "content-type": "text/plain; charset=utf-8", "content-security-policy": "default-src 'none'" });
    const what = isRefused ? "The login was refused." : "That is all that is to be done here: outrider says whether it worked.";
    response.end(`${what} You may close this page.\n`);
    visit(url);
  });
  await listen(server, port, "127.0.0.1");
  const { port: taken } = server.address() as AddressInfo; // it listens on a port
  const second = createServer((request, response) => server.emit("request", request, response));
  const isDouble = await listen(second, taken, "::1").then(
    () => true,
    () => false, // not every machine has it
  );
  return {
    redirectUrl: `http://localhost:${taken}${path}`,
    visited,
    async close() {
      await Promise.all([server, ...(isDouble ? [second] : [])].map(shut));
    },
  };
}

/** How long somebody may take to log in. */
const patienceMs = 600_000;

/** A person with a browser on this machine. `show` opens the address, or tells them. */
export function personBehind(
  { redirectUrl, visited }: Loopback,
  show: (url: URL) => Promise<URL | undefined>,
  { patience = patienceMs }: { readonly patience?: number } = {},
): AskPerson {
  return {
    redirectUrl,
    async visit(url) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`nobody came back from the browser within ${patience / 1000} s`)), patience);
      });
      const shown = show(url);
      const told = shown.then((address) => address ?? visited);
      return await Promise.race([visited, told, late]).finally(() => clearTimeout(timer));
    },
  };
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
}

async function shut(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
