import type { Socket } from "node:net";
import type { SecureContext } from "node:tls";
import { RuntimeError } from "../protocol/errors.ts";
import { defined } from "../util/defined.ts";
import { toNetworkError } from "./network-error.ts";
import { bareHost, portOf, proxyAuthorization } from "./proxy.ts";

export type TunnelRequest = {
  readonly proxy: URL;
  readonly host: string;
  readonly port: number;
  readonly secureContext: SecureContext | undefined;
  /** Ends the attempt, whatever it is waiting for. */
  readonly signal: AbortSignal;
};

/** A TLS connection to `host` through the proxy's CONNECT, ready to be written to. */
export async function openTunnel(request: TunnelRequest): Promise<Socket> {
  const { host, signal, secureContext } = request;
  const tls = process.getBuiltinModule("node:tls");
  const net = process.getBuiltinModule("node:net");
  const socket = await askForTunnel(request);
  return new Promise((resolve, reject) => {
    const secure = tls.connect({
      socket,
      ...defined({ secureContext }),
      ...(!net.isIP(host) && { servername: host }),
      ALPNProtocols: ["http/1.1"],
    });
    const abort = (): void => void secure.destroy(new Error("The connection attempt was given up"));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    secure.once("error", (error) => reject(toNetworkError(error, host)));
    secure.once("close", () => signal.removeEventListener("abort", abort));
    secure.once("secureConnect", () => {
      signal.removeEventListener("abort", abort);
      resolve(secure);
    });
  });
}

function askForTunnel({ proxy, host, port, secureContext, signal }: TunnelRequest): Promise<Socket> {
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const { request } = process.getBuiltinModule(proxy.protocol === "https:" ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: bareHost(proxy),
      port: portOf(proxy),
      method: "CONNECT",
      path: authority,
      headers: { host: authority, ...proxyAuthorization(proxy) },
      agent: false,
      ...defined({ secureContext }),
      signal,
    });
    outgoing.on("error", (error) => reject(toNetworkError(error, `the proxy ${proxy.host}`)));
    outgoing.once("connect", (response, socket: Socket) => {
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(tunnelRefused(proxy, authority, response.statusCode ?? 0));
    });
    outgoing.once("response", (response) => {
      outgoing.destroy();
      reject(tunnelRefused(proxy, authority, response.statusCode ?? 0));
    });
    outgoing.end();
  });
}

function tunnelRefused(proxy: URL, authority: string, status: number): RuntimeError {
  const message = `The proxy ${proxy.host} refused a connection to ${authority} (HTTP ${status})`;
  if (status >= 500) return new RuntimeError("provider-unavailable", message, { retryable: true });
  const hint = status === 407 ? "Check the user and password in HTTPS_PROXY" : "Check HTTPS_PROXY and NO_PROXY";
  return new RuntimeError("config", message, { hint });
}
