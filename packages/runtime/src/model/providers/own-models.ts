import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { defined } from "../../util/defined.ts";
import type { ModelRecord } from "../capabilities/record.ts";
import type { ModelOverride } from "../catalog-override.ts";
import { resolveSettings } from "./create-provider.ts";
import type { Endpoint } from "../client.ts";
import type { ProviderDefinition, ProviderSettings } from "./definition.ts";
import { fetchModelList } from "./probe.ts";

/** More than anybody has; what is beyond is left out. */
const mostModels = 2_000;

/** The models that a provider lists, with what it says about them: windows, limits, ends, and at Anthropic what each can do. */
export async function listOwnModels(definition: ProviderDefinition, settings: ProviderSettings): Promise<ModelOverride[]> {
  const connection = await definition.connect(resolveSettings(definition, settings));
  try {
    const check = connection.check && wholeList(definition.name, connection.check);
    const body = await fetchModelList({ ...connection, ...(check && { check }) }, settings, new AbortController().signal);
    if (body === undefined) throw new RuntimeError("not-found", `${definition.title} has no list of its models`);
    const { data, models } = JSON.parse(body) as { data?: unknown; models?: unknown }; // an object, as was checked
    const list = Array.isArray(data) ? data : Array.isArray(models) ? models : [];
    return list.slice(0, mostModels).flatMap((entry: JsonValue) => toOverride(definition.name, entry));
  } finally {
    connection.close?.();
  }
}

/** Lists come in pages; a page may be long. What is asked to try a key is not the list everywhere. */
function wholeList(name: string, { url, headers }: Endpoint): Endpoint {
  const place = new URL(url.replace(/\/key$/, "/models"));
  if (name === "anthropic") place.searchParams.set("limit", "1000");
  if (name === "gemini") place.searchParams.set("pageSize", "1000");
  return { url: place.href, headers };
}

function toOverride(provider: string, entry: JsonValue): ModelOverride[] {
  if (!isJsonObject(entry)) return [];
  const id = entry["id"] ?? entry["name"];
  if (typeof id !== "string" || !/^[\w.:/@~+-]{1,200}$/.test(id)) return [];
  const router = isJsonObject(entry["top_provider"]) ? entry["top_provider"] : {};
  const contextWindow = firstCount(entry, [
    "max_input_tokens",
    "inputTokenLimit",
    "context_length",
    "max_context_length",
    "context_window",
  ]);
  const maxOutputTokens = firstCount({ ...router, ...entry }, ["max_tokens", "outputTokenLimit", "max_completion_tokens"]);
  const capabilities = toCapabilities(entry);
  const facts = {
    ...defined({ contextWindow, maxOutputTokens }),
    ...(Object.keys(capabilities).length > 0 && { capabilities }),
  };
  if (Object.keys(facts).length === 0) return [];
  return [{ provider, model: id.replace(/^models\//, ""), ...facts }];
}

function toCapabilities(entry: JsonObject): Partial<ModelRecord> {
  const can = isJsonObject(entry["capabilities"]) ? entry["capabilities"] : {};
  const thinking = isJsonObject(can["thinking"]) ? wordsIn(can["thinking"]["types"]) : undefined;
  const retires = [entry["retires_at"], entry["shutdown_date"], entry["deprecation"]].map(dayIn).find((day) => day !== undefined);
  return defined({
    retires,
    thinking,
    efforts: wordsIn(can["effort"]),
    nativeSchema: yesOrNo(can["structured_outputs"]),
    images: yesOrNo(can["image_input"]),
    pdf: yesOrNo(can["pdf_input"]),
  });
}

function firstCount(entry: JsonObject, names: readonly string[]): number | undefined {
  return names.map((name) => entry[name]).find((value): value is number => Number.isSafeInteger(value) && Number(value) > 0);
}

/** A list of words, or an object with a word for each that says whether it is so. */
function wordsIn(value: JsonValue | undefined): string[] | undefined {
  const words = Array.isArray(value)
    ? value
    : isJsonObject(value)
      ? Object.keys(value).filter((name) => yesOrNo(value[name]) === true && name !== "supported")
      : [];
  const plain = words.filter((word): word is string => typeof word === "string" && /^[a-z_]{1,30}$/.test(word));
  return plain.length > 0 ? plain : undefined;
}

function yesOrNo(value: JsonValue | undefined): boolean | undefined {
  const said = isJsonObject(value) ? value["supported"] : value;
  return typeof said === "boolean" ? said : undefined;
}

function dayIn(value: JsonValue | undefined): string | undefined {
  if (typeof value === "number" && value > 1e9 && value < 1e11) return new Date(value * 1_000).toISOString().slice(0, 10);
  return typeof value === "string" ? /^\d{4}-\d\d-\d\d/.exec(value)?.[0] : undefined;
}
