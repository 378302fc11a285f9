import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import type { Engine, Query, Result } from "./search-engines.ts";

/** A model of the provider searches: it takes longer than an engine, and costs tokens there. */
const timeoutMs = 90_000;

const askFor = ({ query }: Query): string =>
  `Search the web once for the words between the lines, then say in one sentence for each page what it says about them.\n---\n${query}\n---`;

const post = (url: string, body: JsonObject, headers: Record<string, string>): { url: string; init: RequestInit } => ({
  url,
  init: {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json", ...headers },
    body: JSON.stringify(body),
  },
});

/** Searches that providers of models do themselves: Anthropic's `web_search`, OpenAI's `web_search`, Google's grounding. */
export const hostedEngines: Readonly<Record<"anthropic" | "openai" | "gemini", Engine>> = {
  anthropic: {
    url: "https://api.anthropic.com",
    timeoutMs,
    request: (base, query, { key, model }) => {
      const { allowedDomains, blockedDomains } = query;
      // The API takes one of the two lists; the other is held to afterwards.
      const domains = allowedDomains
        ? { allowed_domains: allowedDomains }
        : blockedDomains && { blocked_domains: blockedDomains };
      return post(
        `${base}/v1/messages`,
        {
          model,
          max_tokens: 4_096,
          messages: [{ role: "user", content: askFor(query) }],
          tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 1, ...domains }],
        },
        { "x-api-key": key, "anthropic-version": "2023-06-01" },
      );
    },
    read: (answer) => {
      const blocks = objectsIn(answer["content"]);
      const quotes = blocks.flatMap(({ citations }) => objectsIn(citations));
      return blocks
        .filter(({ type }) => type === "web_search_tool_result")
        .flatMap(({ content }) => objectsIn(content))
        .map(({ title, url }) =>
          toResult(
            title,
            url,
            textsOf(
              quotes.filter((quote) => quote["url"] === url),
              "cited_text",
            ),
          ),
        );
    },
  },
  openai: {
    url: "https://api.openai.com/v1",
    timeoutMs,
    request: (base, query, { key, model }) =>
      post(
        `${base}/responses`,
        {
          model,
          input: askFor(query),
          store: false,
          tools: [{ type: "web_search", ...(query.allowedDomains && { filters: { allowed_domains: query.allowedDomains } }) }],
          tool_choice: "required",
        },
        { authorization: `Bearer ${key}` },
      ),
    read: (answer) =>
      objectsIn(answer["output"])
        .flatMap(({ content }) => objectsIn(content))
        .flatMap(({ text, annotations }) =>
          objectsIn(annotations)
            .filter(({ type }) => type === "url_citation")
            .map(({ title, url, start_index: end }) => toResult(title, url, sentenceBefore(text, end))),
        ),
  },
  gemini: {
    url: "https://generativelanguage.googleapis.com/v1beta",
    timeoutMs,
    request: (base, query, { key, model }) =>
      post(
        `${base}/models/${model}:generateContent`,
        { contents: [{ role: "user", parts: [{ text: askFor(query) }] }], tools: [{ googleSearch: {} }] },
        { "x-goog-api-key": key },
      ),
    read: (answer) => {
      const [first = {}] = objectsIn(answer["candidates"]);
      const grounding = isJsonObject(first["groundingMetadata"]) ? first["groundingMetadata"] : {};
      const supports = objectsIn(grounding["groundingSupports"]);
      return objectsIn(grounding["groundingChunks"]).map(({ web }, index) => {
        const { title, uri } = isJsonObject(web) ? web : {};
        const told = supports.filter(({ groundingChunkIndices: of }) => Array.isArray(of) && of.includes(index));
        return toResult(
          title,
          uri,
          textsOf(
            told.map(({ segment }) => (isJsonObject(segment) ? segment : {})),
            "text",
          ),
        );
      });
    },
  },
};

function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textsOf(objects: readonly JsonObject[], name: string): string {
  return objects.map((one) => (typeof one[name] === "string" ? one[name] : "")).join(" ");
}

/** A citation stands behind what it is for. */
function sentenceBefore(text: JsonValue | undefined, end: JsonValue | undefined): string {
  const words = typeof text === "string" && typeof end === "number" ? text.slice(Math.max(0, end - 300), end) : "";
  return words.slice(words.lastIndexOf("\n") + 1);
}

function toResult(title: JsonValue | undefined, url: JsonValue | undefined, snippet: string): Partial<Result> {
  return { ...(typeof title === "string" && { title }), ...(typeof url === "string" && { url }), snippet };
}
