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

/** What is known about a model at one of these providers; at a router and at servers for anybody's models, by the model's own name. */
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

/** Providers that serve what others have made. */
const resellers: ReadonlySet<string> = new Set(["openai-compatible", "together", "fireworks"]);

/** The record that a model has under its own name, whoever serves it; what is only known of its kin does not count. */
function findAnywhere(model: string): ModelRecord | undefined {
  const names = [model, model.slice(model.lastIndexOf("/") + 1)];
  const found = Object.values(allModels).flatMap((table) => names.map((name) => findRecord(table, name)));
  return found.find((record) => record !== undefined && !record.guessed);
}

function lookUp(provider: string, model: string): ModelRecord | undefined {
  if (resellers.has(provider)) return findAnywhere(model);
  if (provider === "vertex") return findRecord(model.startsWith("claude") ? claudeModels : geminiModels, model);
  if (provider !== "openrouter") {
    const table = allModels[sameModels[provider] ?? provider];
    const own = table && findRecord(table, model);
    return own ?? (provider === "openai" ? findAnywhere(model) : undefined); // at another address it may be anybody's
  }
  const [, maker = "", name = ""] = /^~?([^/]+)\/([^:]+)/.exec(model) ?? [];
  const table = allModels[makers[maker] ?? maker];
  return table && findRecord(table, name);
}
