import { defined } from "../../util/defined.ts";
import type { McpServerConfig } from "./server-config.ts";

export type McpServerState = {
  readonly name: string;
  /** `pending` also while a server that went away is reached again; its tools stay. */
  readonly status: "pending" | "connected" | "failed" | "needs-auth" | "disabled";
  readonly error?: string;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  /** The revision of the protocol that is spoken with it. */
  readonly protocolVersion?: string;
  /** What it wants models to know of its tools, in its own words. */
  readonly instructions?: string;
  /** The names that models know them by. */
  readonly tools: readonly string[];
  /** The same in the server's own words. */
  readonly offers: readonly ServerOffer[];
  /** It has resources to read. */
  readonly resources?: boolean;
  /** It has prompts to fill in. */
  readonly prompts?: boolean;
  /** Where it was written down; `sdk` for one that lives in the host. */
  readonly source?: string;
  /** How it is reached, without what may be secret: no variables, no headers. */
  readonly reach?: ServerReach;
};

export type ServerOffer = { readonly name: string; readonly description?: string; readonly annotations: ToolAnnotations };

/** What a server says of a tool; nobody has looked whether it is so. */
export type ToolAnnotations = { readonly readOnly?: true; readonly destructive?: true; readonly openWorld?: true };

export type ServerReach =
  | { readonly type: "stdio"; readonly command: string; readonly args: string[] }
  | { readonly type: "http" | "sse"; readonly url: string }
  | { readonly type: "sdk"; readonly name: string };

/** A server that nobody has tried yet. */
export function idleState(name: string, config: McpServerConfig): McpServerState {
  const source = config.type === "sdk" ? "sdk" : config.source;
  const reach = reachOf(config);
  return { name, status: config.disabled ? "disabled" : "pending", tools: [], offers: [], ...defined({ source, reach }) };
}

function reachOf(config: McpServerConfig): ServerReach | undefined {
  switch (config.type) {
    case "stdio":
      return { type: "stdio", command: config.command, args: [...config.args] };
    case "http":
    case "sse":
      return { type: config.type, url: withoutLogin(config.url) };
    case "sdk":
      return { type: "sdk", name: config.name };
    case "broken":
      return undefined;
  }
}

function withoutLogin(url: string): string {
  return url.replace(/^(\w+:\/\/)[^/@]*@/, "$1");
}
