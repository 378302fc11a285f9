import type { JsonObject } from "../../protocol/content.ts";
import type { LoginWays } from "./auth/login-ways.ts";
import type { McpServerConfig } from "./server-config.ts";
import type { McpTransport } from "./transport.ts";

/** What servers may ask of us, beside being asked. */
export type ClientAbilities = {
  /** Answers when a server asks the user something and nothing is written down for that; without it the question is dismissed. */
  readonly elicit?: ((server: string, request: JsonObject, signal: AbortSignal) => Promise<JsonObject>) | undefined;
  /** The folders the session works in. */
  readonly roots: readonly string[];
};

/** How servers are reached. */
export type ReachOptions = ClientAbilities &
  LoginWays & {
    readonly cwd: string;
    /** What servers that are programs see, beside their own variables. */
    readonly env: Readonly<Record<string, string>>;
    /** The way to servers that live inside the host. */
    readonly hostTransport?: ((server: string) => McpTransport) | undefined;
  };

export type HttpConfig = Extract<McpServerConfig, { type: "http" | "sse" }>;
