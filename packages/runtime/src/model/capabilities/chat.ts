import type { ModelRequest } from "../model.ts";
import { claudeModels } from "./claude.ts";
import { geminiModels } from "./gemini.ts";
import { gptModels } from "./gpt.ts";
import { openModels } from "./open.ts";
import { findRecord, type ModelRecord, type RecordTable } from "./record.ts";

/** Everybody's models, by the provider that serves them under its own name. */
export const allModels: Readonly<Record<string, RecordTable>> = {
  anthropic: claudeModels,
  openai: gptModels,
  gemini: geminiModels,
  ...openModels,
};

/** What is known about a model at one of these providers; at a router, by the maker's name in front of the model's. */
export function recordAt(
  provider: string,
  { model, capabilities }: Pick<ModelRequest, "model" | "capabilities">,
): ModelRecord | undefined {
  const record = lookUp(provider, model);
  return record && capabilities ? { ...record, ...capabilities } : record;
}

const sameModels: Readonly<Record<string, string>> = { azure: "openai", bedrock: "anthropic", google: "gemini" };
const makers: Readonly<Record<string, string>> = {
  google: "gemini",
  "x-ai": "xai",
  mistralai: "mistral",
  moonshotai: "moonshot",
  "z-ai": "zai",
};

function lookUp(provider: string, model: string): ModelRecord | undefined {
  if (provider === "vertex") return findRecord(model.startsWith("claude") ? claudeModels : geminiModels, model);
  if (provider !== "openrouter") {
    const table = allModels[sameModels[provider] ?? provider];
    return table && findRecord(table, model);
  }
  const [, maker = "", name = ""] = /^~?([^/]+)\/([^:]+)/.exec(model) ?? [];
  const table = allModels[makers[maker] ?? maker];
  return table && findRecord(table, name);
}
