import type { Client, Transport } from "@modelcontextprotocol/client";
import { answeredFetch } from "./answered-fetch.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { failureOf, httpStatusOf, isProtocolRefusal } from "./connect-failure.ts";
import { createClient, type ProtocolEra } from "./create-client.ts";
import type { HttpConfig, ReachOptions } from "./reach-options.ts";
import { createSameOriginFetch } from "./same-origin-fetch.ts";
import { olderStreamFetch } from "./older-stream.ts";
import type { McpServerConfig } from "./server-config.ts";
import { StdioTransport } from "./stdio-transport.ts";
import { withDeadline } from "./with-deadline.ts";

export type ReachedServer = { readonly client: Client; readonly transport: Transport };

type Way = { readonly type: McpServerConfig["type"]; readonly era: ProtocolEra };
type Bounds = { readonly timeout: number; readonly signal: AbortSignal };

/** A server that could not be reached, as its state will say it. */
export class Unreachable extends Error {
  readonly failure: ReturnType<typeof failureOf>;

  constructor(failure: ReturnType<typeof failureOf>, cause: unknown) {
    super(failure.error, { cause });
    this.failure = failure;
  }
}

/**
 * Connects in the way that is written down. A server that refuses it is asked in the other ways there are: by the newer protocol, and over
 * the older form of HTTP. When none helps, the first refusal is told.
 */
export async function reachServer(
  name: string,
  config: McpServerConfig,
  { options, ...bounds }: Bounds & { readonly options: ReachOptions },
): Promise<ReachedServer> {
  const first = await tryWay({ type: config.type, era: "legacy" }, { name, config, options, ...bounds });
  if ("client" in first) return first;
  for (const way of otherWays(config, first.error)) {
    if (bounds.signal.aborted) break;
    const next = await tryWay(way, { name, config, options, ...bounds });
    if ("client" in next) return next;
  }
  throw new Unreachable(first.failure, first.error);
}

function otherWays({ type }: McpServerConfig, error: unknown): Way[] {
  const status = httpStatusOf(error);
  const isRefused = isProtocolRefusal(error) || status === 400;
  const modern: Way[] = isRefused && (type === "stdio" || type === "http") ? [{ type, era: "modern" }] : [];
  const isElsewhere = type === "http" && (status === 400 || status === 404 || status === 405);
  return isElsewhere ? [...modern, { type: "sse", era: "legacy" }] : modern;
}

type Try = Bounds & { readonly name: string; readonly config: McpServerConfig; readonly options: ReachOptions };

async function tryWay(
  { type, era }: Way,
  { name, config, options, timeout, signal }: Try,
): Promise<ReachedServer | { readonly error: unknown; readonly failure: ReturnType<typeof failureOf> }> {
  let transport: Transport | undefined;
  try {
    transport = await transportOf(type, { name, config, options });
    const client = await createClient(name, { ...options, policy: config.elicitation, era });
    await withDeadline(client.connect(transport, { timeout, signal }), { signal, timeout });
    return { client, transport };
  } catch (error) {
    const program = transport instanceof StdioTransport ? transport : undefined;
    await program?.settled();
    const failure = failureOf(error, program?.trouble);
    await transport?.close().catch(() => {}); // the first failure is the one to tell
    return { error, failure };
  }
}

async function transportOf(
  type: McpServerConfig["type"],
  { name, config, options }: Pick<Try, "name" | "config" | "options">,
): Promise<Transport> {
  const { cwd, env, hostTransport } = options;
  switch (config.type) {
    case "stdio":
      return new StdioTransport({ ...config, cwd: config.cwd ?? cwd, env: { ...env, ...config.env } });
    case "http":
    case "sse": {
      const { SSEClientTransport, StreamableHTTPClientTransport } = await import("./official-client.ts");
      const { authorizedFetch } = await import("./auth/authorized-fetch.ts");
      const fetch = await authorizedFetch(boundedFetch(createSameOriginFetch()), config, options);
      const shared = { requestInit: { headers: await headersOf(name, config, options) }, fetch };
      const url = new URL(config.url);
      if (type === "sse") {
        const older: Transport = new SSEClientTransport(url, {
          ...shared,
          fetch: olderStreamFetch(fetch, () => void older.close()),
        });
        return older;
      }
      const whole = { ...shared, fetch: answeredFetch(fetch), reconnectionOptions: streamRetries };
      return new StreamableHTTPClientTransport(url, whole);
    }
    case "sdk":
      if (!hostTransport) throw new Error("there is no host that could hold this server");
      return hostTransport(name);
    case "broken":
      throw new Error(config.problem);
  }
}

async function headersOf(name: string, config: HttpConfig, options: ReachOptions): Promise<Readonly<Record<string, string>>> {
  if (config.headersHelper === undefined) return config.headers;
  const { askHeadersHelper } = await import("./headers-helper.ts");
  return { ...config.headers, ...(await askHeadersHelper(config.headersHelper, { name, url: config.url, ...options })) };
}

/** For a stream that breaks off while the server lives. */
const streamRetries = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 8,
};
