import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { messageOf } from "../util/message-of.ts";
import type { WebSearchBackend } from "./builtin/web-search.ts";
import { hostedEngines } from "./hosted-search.ts";
import { ToolFailure } from "./tool.ts";

export const searchEngines = ["brave", "searxng", "tavily", "exa", "anthropic", "openai", "gemini"] as const;
export type SearchEngineName = (typeof searchEngines)[number];

export type SearchEngineOptions = {
  readonly engine: SearchEngineName;
  readonly apiKey?: string | undefined;
  /** Who searches, at providers of models. */
  readonly model?: string | undefined;
  /** Another server that answers the same; the address of a SearXNG, which has none of its own. */
  readonly url?: string | undefined;
};

export type Query = Parameters<WebSearchBackend>[0];
export type Result = Awaited<ReturnType<WebSearchBackend>>[number];
export type Engine = {
  readonly url: string | undefined;
  readonly timeoutMs?: number;
  request(
    base: string,
    query: Query,
    by: { readonly key: string; readonly model: string },
  ): { readonly url: string; readonly init: RequestInit };
  /** What was found, as the engine tells it. */
  read(answer: JsonObject): readonly Partial<Result>[];
};

const count = 10;
const timeoutMs = 20_000;
const maxCharacters = 2 * 1024 * 1024;
const longestSnippet = 500;

const get = (url: URL, headers: Record<string, string> = {}): { url: string; init: RequestInit } => ({
  url: url.href,
  init: { headers: { accept: "application/json", ...headers } },
});

const post = (url: string, body: JsonObject, headers: Record<string, string>): { url: string; init: RequestInit } => ({
  url,
  init: {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json", ...headers },
    body: JSON.stringify(body),
  },
});

function at(base: string, path: string, parameters: Readonly<Record<string, string>>): URL {
  const url = new URL(`${base.replace(/\/+$/, "")}${path}`);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

/** Engines without a list of domains take them among the words. */
function wordsOf({ query, allowedDomains = [], blockedDomains = [] }: Query): string {
  const only = allowedDomains.map((domain) => `site:${domain}`).join(" OR ");
  return [query, only && (allowedDomains.length > 1 ? `(${only})` : only), ...blockedDomains.map((domain) => `-site:${domain}`)]
    .filter(Boolean)
    .join(" ");
}

/** Results are a list at this place, with their excerpts under this name. */
const listAt =
  (places: readonly string[], snippet: string): Engine["read"] =>
  (answer) => {
    let value: JsonValue | undefined = answer;
    for (const place of places) value = value !== undefined && isJsonObject(value) ? value[place] : undefined;
    return (Array.isArray(value) ? value : []).filter(isJsonObject).map(({ title, url, [snippet]: words }) => ({
      ...(typeof title === "string" && { title }),
      ...(typeof url === "string" && { url }),
      ...(typeof words === "string" && { snippet: words }),
    }));
  };

const engines: Readonly<Record<SearchEngineName, Engine>> = {
  brave: {
    url: "https://api.search.brave.com/res/v1/web",
    request: (base, query, { key }) =>
      get(at(base, "/search", { q: wordsOf(query), count: String(count) }), { "x-subscription-token": key }),
    read: listAt(["web", "results"], "description"),
  },
  searxng: {
    url: undefined,
    request: (base, query, { key }) =>
      get(at(base, "/search", { q: wordsOf(query), format: "json" }), key === "" ? {} : { authorization: `Bearer ${key}` }),
    read: listAt(["results"], "content"),
  },
  tavily: {
    url: "https://api.tavily.com",
    request: (base, { query, allowedDomains = [], blockedDomains = [] }, { key }) =>
      post(
        at(base, "/search", {}).href,
        { query, max_results: count, include_domains: allowedDomains, exclude_domains: blockedDomains },
        { authorization: `Bearer ${key}` },
      ),
    read: listAt(["results"], "content"),
  },
  exa: {
    url: "https://api.exa.ai",
    request: (base, { query, allowedDomains, blockedDomains }, { key }) =>
      post(
        at(base, "/search", {}).href,
        {
          ...{ query, numResults: count, contents: { text: { maxCharacters: longestSnippet } } },
          ...(allowedDomains && { includeDomains: allowedDomains }),
          ...(blockedDomains && { excludeDomains: blockedDomains }),
        },
        { "x-api-key": key },
      ),
    read: listAt(["results"], "text"),
  },
  ...hostedEngines,
};

/** A search by an engine that answers programs. What goes wrong is told to the model, and never with the key. */
export function createSearchBackend({ engine, apiKey = "", model = "", url }: SearchEngineOptions): WebSearchBackend {
  const { url: own, request, read, timeoutMs: patience = timeoutMs } = engines[engine];
  const base = (url ?? own ?? "").replace(/\/+$/, "");
  return async (query) => {
    const { url: address, init } = request(base, query, { key: apiKey, model });
    const signal = AbortSignal.any([query.signal, AbortSignal.timeout(patience)]);
    let answer: { readonly status: number; readonly text: string };
    try {
      const response = await fetch(address, { ...init, signal, redirect: "error" });
      answer = { status: response.status, text: (await response.text()).slice(0, maxCharacters) };
    } catch (error) {
      query.signal.throwIfAborted();
      throw new ToolFailure(
        `The search failed: ${engine} could not be reached (${causeOf(error)}). Go on without it, or try again later.`,
      );
    }
    if (answer.status !== 200) throw new ToolFailure(refusal(engine, answer.status));
    return toResults(answer.text, { engine, read });
  };
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : messageOf(error);
}

function refusal(engine: string, status: number): string {
  const why =
    status === 401 || status === 403
      ? "it does not accept the key, which the person who runs this must mend"
      : status === 429
        ? "too many searches for now"
        : "it answered with an error";
  return `The search failed: ${engine} said ${status} (${why}). Do not repeat it at once.`;
}

function toResults(text: string, { engine, read }: { engine: string } & Pick<Engine, "read">): Result[] {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue; // whatever JSON holds is one
  } catch {
    throw new ToolFailure(`The search failed: what ${engine} answered is no JSON. Go on without it.`);
  }
  const found = new Map<string, Result>();
  for (const { title, url, snippet = "" } of isJsonObject(value) ? read(value) : []) {
    if (!url || found.has(url)) continue;
    const excerpt = snippet
      .replace(/<[^>]+>/g, "")
      .replace(/\s+/g, " ")
      .trim()
      .slice(0, longestSnippet);
    found.set(url, { title: title || url, url, ...(excerpt !== "" && { snippet: excerpt }) });
  }
  return [...found.values()];
}
