import { RuntimeError } from "../../protocol/errors.ts";
import {
  amount,
  anyText,
  checkOptions,
  count,
  fields,
  type Kind,
  listOf,
  secretText,
  shape,
  text,
} from "../../protocol/kinds.ts";
import { createModelClient, type Endpoint } from "../client.ts";
import { anthropicHttpError, anthropicMessages } from "../dialects/anthropic-messages.ts";
import type { Timeouts } from "../http.ts";
import type { Provider } from "../model.ts";
import type { Env } from "../proxy.ts";
import type { RetryPolicy } from "../retry.ts";
import { retryKind } from "../retry-kind.ts";
import { claudeBetas, claudeRecord } from "../dialects/claude-parameters.ts";
import { toClaudeSchema } from "../dialects/claude-schema.ts";
import { adaptDialect, without } from "./adapt-dialect.ts";
import { anthropic, anthropicEndpoint, withBetas } from "./hosted.ts";
import { defined } from "../../util/defined.ts";

export type AnthropicOptions = {
  /** One of the two is needed; the token wins, since a gateway's token is set on purpose. */
  readonly apiKey?: string | undefined;
  readonly authToken?: string | undefined;
  readonly baseURL?: string | undefined;
  readonly model?: string | undefined;
  readonly contextWindow?: number | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** Only asked for the proxy variables. */
  readonly env?: Env | undefined;
  /** PEM texts of certificate authorities to trust beside the usual ones. */
  readonly ca?: readonly string[] | undefined;
};

const time = shape(
  { connectMs: amount, headersMs: amount, firstByteMs: amount, idleMs: amount, totalMs: amount },
  "an object of times",
);
const kinds: Readonly<Record<keyof AnthropicOptions, Kind>> = {
  apiKey: secretText,
  authToken: secretText,
  baseURL: anyText,
  model: text,
  contextWindow: count,
  timeouts: time,
  retry: retryKind,
  env: fields,
  ca: listOf(text, "a list of certificates in PEM"),
};

export function createAnthropicProvider(options: AnthropicOptions): Provider & { close(): void } {
  checkOptions("createAnthropicProvider", options, kinds);
  const endpoint = endpointOf(options);
  const { timeouts, retry, env, ca } = options;
  const client = createModelClient({
    name: anthropic.name,
    dialect: adaptDialect(anthropicMessages, { options: (all) => without(all, ["anthropic_beta"]) }),
    endpoint: (request) => withBetas(endpoint, request.options?.["anthropic_beta"], claudeBetas(request)),
    toError: anthropicHttpError,
    ...defined({ timeouts, retry, env }),
    ...(ca && { ca }),
  });
  const model = options.model ?? anthropic.defaultModel;
  return {
    name: anthropic.name,
    model,
    contextWindow: options.contextWindow ?? anthropic.contextWindow,
    nativeSchema: claudeRecord({ model })?.nativeSchema ?? false,
    fitsSchema: (schema) => toClaudeSchema(schema) !== undefined,
    ...client,
  };
}

function endpointOf(options: AnthropicOptions): Endpoint {
  const baseURL = options.baseURL?.trim() || anthropic.baseURL;
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new RuntimeError("config", `The base URL "${baseURL}" is no http or https address`, {
      hint: "Check ANTHROPIC_BASE_URL",
    });
  }
  const authToken = options.authToken?.trim();
  const apiKey = options.apiKey?.trim();
  if (authToken) return anthropicEndpoint(baseURL, { authToken });
  if (apiKey) return anthropicEndpoint(baseURL, { apiKey });
  throw new RuntimeError("provider-auth", "There is no key for Anthropic", {
    hint: "Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN",
  });
}
