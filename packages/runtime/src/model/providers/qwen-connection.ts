import type { JsonObject } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { adaptDialect, without } from "./adapt-dialect.ts";
import { chatConnection } from "./compatible.ts";
import type { Connection, ConnectSettings } from "./definition.ts";

export async function connectQwen(settings: ConnectSettings): Promise<Connection> {
  toBodyOptions(settings.options); // a mistake is told now, not with the first request
  const connection = await chatConnection(settings, {
    recordsOf: "qwen",
    maxTokensField: "max_tokens",
    effort: "enable_thinking",
    nativeSchema: false,
  });
  return { ...connection, dialect: adaptDialect(connection.dialect, { options: toBodyOptions }) };
}

function toBodyOptions(options: JsonObject): JsonObject {
  const { webSearch, webFetch } = parseWebTools(options["builtInWebTools"]);
  const rest = without(options, ["builtInWebTools"]);
  if (!webSearch && !webFetch) return rest;
  const searchOptions = typeof rest["search_options"] === "object" ? rest["search_options"] : {};
  return {
    enable_search: true,
    // Only this strategy also opens the pages it finds, and only while the model thinks.
    ...(webFetch && { enable_thinking: true }),
    ...rest,
    ...(webFetch && { search_options: { search_strategy: "agent_max", ...searchOptions } }),
  };
}

function parseWebTools(value: unknown): { webSearch: boolean; webFetch: boolean } {
  const tools = { webSearch: false, webFetch: false };
  if (value === undefined) return tools;
  const entries = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : undefined;
  for (const [name, wanted] of entries ?? [["", ""]]) {
    if ((name !== "webSearch" && name !== "webFetch") || typeof wanted !== "boolean") {
      throw new RuntimeError("config", "The option builtInWebTools of Qwen takes webSearch and webFetch, each true or false");
    }
    tools[name] = wanted;
  }
  return tools;
}
