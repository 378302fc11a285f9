import type { JsonValue } from "../../protocol/content.ts";
import type { Endpoint } from "../client.ts";
import { adaptDialect, without } from "./adapt-dialect.ts";
import { chatConnection, versioned } from "./compatible.ts";
import { addPath, bearer, type ConnectSettings, geminiAct, keyHint, type ProviderDefinition } from "./definition.ts";

/** The three whose makers have a wire of their own. */
export const anthropic: ProviderDefinition & { readonly baseURL: string; readonly defaultModel: string } = {
  name: "anthropic",
  title: "Anthropic",
  baseURL: "https://api.anthropic.com",
  baseURLVariables: ["ANTHROPIC_BASE_URL"],
  // The token first: a gateway's token is set on purpose.
  keyVariables: ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"],
  keyOptional: false,
  modelVariables: ["ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_MODEL"],
  defaultModel: "claude-sonnet-5-5",
  contextWindow: 200_000,
  setupLink: "https://console.anthropic.com/settings/keys",
  async connect({ baseURL, key, env }) {
    const [{ anthropicHttpError, anthropicMessages }, { claudeBetas }] = await Promise.all([
      import("../dialects/anthropic-messages.ts"),
      import("../dialects/claude-parameters.ts"),
    ]);
    const value = key?.value ?? "";
    const isKey = key?.variable === undefined || key.variable === "ANTHROPIC_API_KEY";
    const { url, headers } = anthropicEndpoint(baseURL, isKey ? { apiKey: value } : { authToken: value });
    const subscriber = key?.variable === "CLAUDE_CODE_OAUTH_TOKEN" ? { "anthropic-beta": "oauth-2025-04-20" } : {};
    const custom = env["ANTHROPIC_CUSTOM_HEADERS"];
    const more = custom ? (await import("./custom-headers.ts")).customHeaders(custom) : {};
    const wished = env["ANTHROPIC_BETAS"] || env["CLAUDE_CODE_EXTRA_BODY"];
    const { betas, body } = wished ? (await import("./custom-headers.ts")).customBody(env) : { betas: [], body: {} };
    const endpoint = { url, headers: { ...headers, ...subscriber, ...more } };
    return {
      dialect: adaptDialect(anthropicMessages, {
        options: (options) => without(options, ["anthropic_beta"]),
        body: (written) => ({ ...written, ...body }),
      }),
      endpoint: (request) => withBetas(endpoint, request.options?.["anthropic_beta"], [...claudeBetas(request), ...betas]),
      toError: anthropicHttpError,
      check: { url: endpoint.url.replace(/messages$/, "models"), headers: endpoint.headers },
    };
  },
};

export const openai: ProviderDefinition = {
  name: "openai",
  title: "OpenAI",
  baseURL: "https://api.openai.com/v1",
  baseURLVariables: ["OPENAI_BASE_URL"],
  keyVariables: ["OPENAI_API_KEY"],
  keyOptional: false,
  defaultModel: "gpt-6.1-sol",
  contextWindow: 128_000,
  setupLink: "https://platform.openai.com/api-keys",
  async connect(settings) {
    const adapt = { options: (options: ConnectSettings["options"]) => without(options, ["apiSurface"]) };
    const { openaiSurface } = await import("./openai-surface.ts");
    if ((await openaiSurface(settings)) === "chat-completions") {
      const chat = await chatConnection(settings, { recordsOf: "openai", isMaker: settings.baseURL === openai.baseURL });
      return { ...chat, dialect: adaptDialect(chat.dialect, adapt) };
    }
    const [{ openaiResponses }, { openAIHttpError }] = await Promise.all([
      import("../dialects/openai-responses.ts"),
      import("../dialects/openai-errors.ts"),
    ]);
    const baseURL = versioned(settings);
    const headers = bearer(settings.key);
    const url = addPath(baseURL, "/responses");
    return {
      dialect: adaptDialect(openaiResponses, adapt),
      endpoint: () => ({ url, headers }),
      toError(failure) {
        const error = openAIHttpError(settings.definition.title, keyHint(settings.definition))(failure);
        const isAbsent = failure.status === 404 && settings.baseURL !== openai.baseURL && !/model/i.test(failure.body);
        return isAbsent ? error.restated({ hint: absentHint }) : error;
      },
      check: { url: addPath(baseURL, "/models"), headers },
    };
  },
};

const absentHint = 'A server without Responses takes the option apiSurface "chat-completions"';

export const gemini: ProviderDefinition = {
  name: "gemini",
  title: "Google Gemini",
  baseURL: "https://generativelanguage.googleapis.com/v1beta",
  baseURLVariables: ["GOOGLE_GEMINI_BASE_URL"],
  keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  keyOptional: false,
  defaultModel: "gemini-3.8-flash",
  contextWindow: 1_048_576,
  setupLink: "https://aistudio.google.com/apikey",
  async connect({ baseURL, key }) {
    const { gemini: dialect, geminiHttpError } = await import("../dialects/gemini.ts");
    const base = /\/v\d\w*$/.test(baseURL) ? baseURL : addPath(baseURL, "/v1beta");
    const headers = { "x-goog-api-key": key?.value ?? "" }; // never as ?key=: a URL ends up in logs
    return {
      dialect,
      endpoint: ({ model }, attempt) => ({
        url: `${addPath(base, `/models/${encodeURIComponent(model.replace(/^models\//, ""))}`)}:${geminiAct(attempt)}`,
        headers,
      }),
      toError: geminiHttpError,
      check: { url: addPath(base, "/models"), headers },
    };
  },
};

/** What other hosts of these models take in the body is a header at Anthropic itself. */
export function withBetas({ url, headers }: Endpoint, given: JsonValue | undefined, needed: readonly string[]): Endpoint {
  const names = new Set([headers["anthropic-beta"] ?? [], Array.isArray(given) ? given : [], needed].flat());
  return names.size === 0 ? { url, headers } : { url, headers: { ...headers, "anthropic-beta": [...names].join(",") } };
}

/** Where to ask at a server that speaks Anthropic's API, with or without `/v1` in its base URL. */
export function anthropicEndpoint(baseURL: string, auth: { apiKey: string } | { authToken: string }): Endpoint {
  const url = new URL(baseURL);
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = `${path.endsWith("/v1") ? path : `${path}/v1`}/messages`;
  const header = "apiKey" in auth ? { "x-api-key": auth.apiKey } : { authorization: `Bearer ${auth.authToken}` };
  return { url: url.href, headers: { ...header, "anthropic-version": "2023-06-01" } };
}
