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
  readonly offers: readonly { readonly name: string; readonly description?: string }[];
  /** It has resources to read. */
  readonly resources?: boolean;
  /** It has prompts to fill in. */
  readonly prompts?: boolean;
  /** Where it was written down; `sdk` for one that lives in the host. */
  readonly source?: string;
};

/** A server that nobody has tried yet. */
export function idleState(name: string, config: McpServerConfig): McpServerState {
  const source = config.type === "sdk" ? "sdk" : config.source;
  return { name, status: config.disabled ? "disabled" : "pending", tools: [], offers: [], ...defined({ source }) };
}
