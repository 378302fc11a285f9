import { RuntimeError } from "../protocol/errors.ts";
import { variableOf } from "../settings/profiles.ts";
import type { Settings } from "../settings/settings.ts";
import type { WebSearchBackend } from "../tools/builtin/web-search.ts";

const variables: Readonly<Record<string, readonly string[]>> = {
  brave: ["BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"],
  tavily: ["TAVILY_API_KEY"],
  exa: ["EXA_API_KEY"],
  anthropic: ["ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  gemini: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
};

/** Who answers searches, as the settings have it; undefined where they name nobody. */
export async function searchBackend(
  { webSearch }: Pick<Settings, "webSearch">,
  env: Readonly<Record<string, string | undefined>>,
): Promise<WebSearchBackend | undefined> {
  const { createSearchBackend, searchEngines } = webSearch.engine === undefined ? {} : await import("../tools/search-engines.ts");
  const engine = searchEngines?.find((name) => name === webSearch.engine);
  if (!createSearchBackend || !engine) return undefined;
  const named = variableOf(webSearch.apiKey);
  const known = variables[engine] ?? [];
  const apiKey = named === undefined ? (webSearch.apiKey ?? known.map((name) => env[name]).find(Boolean)) : env[named];
  if (engine !== "searxng" && !apiKey)
    throw new RuntimeError("config", `webSearch.engine is ${engine}, and there is no key for it`, {
      hint: `Set ${named ?? known[0]}, or webSearch.apiKey in your settings`,
    });
  if (webSearch.url === undefined && engine === "searxng")
    throw new RuntimeError("config", "webSearch.engine is searxng, and webSearch.url does not say where it is");
  if (webSearch.url !== undefined && !/^https?:\/\//.test(webSearch.url))
    throw new RuntimeError(
      "config",
      `webSearch.url must be an address that begins with http:// or https://, not ${webSearch.url}`,
    );
  return createSearchBackend({ engine, apiKey, url: webSearch.url, model: await searchingModel(engine) });
}

/** The newest of the cheap models of a provider that searches by one. */
async function searchingModel(engine: string): Promise<string | undefined> {
  if (engine !== "anthropic" && engine !== "openai" && engine !== "gemini") return undefined;
  const [{ allModels }, { listRecords }] = await Promise.all([
    import("../model/capabilities/chat.ts"),
    import("../model/capabilities/record.ts"),
  ]);
  const table = allModels[engine];
  const tier = engine === "gemini" ? "medium" : "small";
  return table && listRecords(table).find((record) => record.tier === tier)?.id;
}
