import { RuntimeError } from "../../protocol/errors.ts";
import { createModelClient } from "../client.ts";
import { anthropicHttpError, anthropicMessages } from "../dialects/anthropic-messages.ts";
import type { Timeouts } from "../http.ts";
import type { Provider } from "../model.ts";
import type { Env } from "../proxy.ts";
import type { RetryPolicy } from "../retry.ts";

export type AnthropicOptions = {
  /** One of the two is needed; the token wins, since a gateway's token is set on purpose. */
  readonly apiKey?: string;
  readonly authToken?: string;
  readonly baseURL?: string;
  readonly model?: string;
  readonly contextWindow?: number;
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryPolicy>;
  /** Only asked for the proxy variables. */
  readonly env?: Env;
  /** PEM texts of certificate authorities to trust beside the usual ones. */
  readonly ca?: readonly string[];
};

export function createAnthropicProvider(options: AnthropicOptions): Provider & { close(): void } {
  const url = messagesUrl(options.baseURL?.trim() || "https://api.anthropic.com");
  const headers = { ...authHeader(options), "anthropic-version": "2023-06-01" };
  const { timeouts, retry, env, ca } = options;
  const client = createModelClient({
    name: "anthropic",
    dialect: anthropicMessages,
    endpoint: () => ({ url, headers }),
    toError: anthropicHttpError,
    ...(timeouts && { timeouts }),
    ...(retry && { retry }),
    ...(env && { env }),
    ...(ca && { ca }),
  });
  return {
    name: "anthropic",
    model: options.model ?? "claude-sonnet-4-5",
    contextWindow: options.contextWindow ?? 200_000,
    ...client,
  };
}

function authHeader({ apiKey, authToken }: AnthropicOptions): Record<string, string> {
  const token = authToken?.trim();
  if (token) return { authorization: `Bearer ${token}` };
  const key = apiKey?.trim();
  if (key) return { "x-api-key": key };
  throw new RuntimeError("provider-auth", "There is no key for Anthropic", {
    hint: "Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN",
  });
}

function messagesUrl(baseURL: string): string {
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new RuntimeError("config", `The base URL "${baseURL}" is no http or https address`, {
      hint: "Check ANTHROPIC_BASE_URL",
    });
  }
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = `${path.endsWith("/v1") ? path : `${path}/v1`}/messages`;
  return url.href;
}
