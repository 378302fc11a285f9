import { isJsonObject, type JsonObject, type JsonValue, type OpaquePart } from "../../protocol/content.ts";

/** What a provider's own web tools did, in the blocks Anthropic has for it; other providers have other words. Anything else as it came. */
export function toServerToolBlock({ dialect, value }: OpaquePart): JsonValue {
  if (!isJsonObject(value)) return value;
  if (dialect === "openai-responses" && value["type"] === "web_search_call") return searchCall(value);
  const { groundingMetadata } = value;
  return dialect === "gemini" && isJsonObject(groundingMetadata) ? foundPages(groundingMetadata) : value;
}

function searchCall({ id = "", action }: JsonObject): JsonObject {
  const { type: _, ...input } = isJsonObject(action) ? action : {};
  return { type: "server_tool_use", id, name: input["url"] ? "web_fetch" : "web_search", input };
}

function foundPages({ groundingChunks, webSearchQueries }: JsonObject): JsonObject {
  const chunks = Array.isArray(groundingChunks) ? groundingChunks.filter(isJsonObject) : [];
  const pages = chunks.flatMap(({ web }) => (isJsonObject(web) ? [web] : []));
  return {
    type: "web_search_tool_result",
    tool_use_id: Array.isArray(webSearchQueries) ? webSearchQueries.join("; ") : "",
    content: pages.map(({ title = "", uri = "" }) => ({ type: "web_search_result", title, url: uri })),
  };
}
