// Writes packages/runtime/src/model/catalog-data.ts, the models, windows and prices of @pydantic/genai-prices as one compact text, and catalog-date.ts.
// `--check` writes nothing and fails when the committed file is not what would be written.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { waitForUpdate } from "@pydantic/genai-prices";

/** The package carries no date of its own: the day npm published the version it stands beside. Change both together. */
const source = { version: "0.1.8", asOf: "2026-09-23" };

/** What is charged for, in the order of a list of rates: US dollars per million tokens, the last one per thousand calls. */
const rateKeys = [
  "input_mtok",
  "output_mtok",
  "cache_read_mtok",
  "cache_write_mtok",
  "cache_write_1h_mtok",
  "output_reasoning_mtok",
  "requests_kcount",
];

/**
 * Models that the package does not know yet, or gets wrong by the name of an older one, as their makers and others' catalogs had them on 2026-11-15:
 * [id, rules, window, price] by provider, in front of the package's own. A line goes when the package has the id.
 */
const additions = {
  anthropic: [
    ["claude-fable-5-2", ["=", "/^claude-fable-5-2-\\d{8}$", "^claude-fable-5.2"], 1000000, [10, 50, 1, 12.5, 20]],
    ["claude-sonnet-5-5", ["=", "/^claude-sonnet-5-5-\\d{8}$", "^claude-sonnet-5.5"], 1000000, [2, 10, 0.1, 2.5, 4]],
    [
      "claude-haiku-5-5",
      ["=", "/^claude-haiku-5-5-\\d{8}$", "^claude-haiku-5.5"],
      1000000,
      [{ rates: [0.1, 0.5, 0.01, 0.125, 0.2], tiers: [[100000, [0.5, 2.5, 0.05, 0.625, 1]]] }],
    ],
  ],
  openai: [
    ["gpt-6.1-sol", 0, 1050000, [{ rates: [2, 10, 0.1, 2.5], tiers: [[272000, [4, 15, 0.2, 5]]] }]],
    ["gpt-6.1-terra", 0, 1050000, [{ rates: [1, 5, 0.05, 1.25], tiers: [[272000, [2, 7.5, 0.1, 2.5]]] }]],
  ],
  google: [
    ["gemini-4-argon", 0, 1048576, [{ rates: [2, 10, 0.1] }, { rates: [4, 20, 0.2], from: "2026-12-01" }]],
    ["gemini-4-carbon", 0, 1048576, [{ rates: [2, 10, 0.1] }, { rates: [4, 20, 0.2], from: "2026-12-01" }]],
  ],
  deepseek: [["deepseek-flash", 0, 1000000, [0.3, 1.2, 0.006]]],
  mistral: [
    ["mistral-large-4", 0, 1048576, [0.7, 2.1, 0.07]],
    ["mistral-medium-3.5", 0, 262144, [1.5, 7.5, 0.15]],
  ],
  moonshotai: [["kimi-k3.1-pro", 0, 1048576, [2, 10, 0.2]]],
  minimax: [["MiniMax-M3.1-Flash", 0, 1000000, [0.15, 0.6, 0.015]]],
  "x-ai": [["grok-4.7", 0, 500000, [{ rates: [2, 6, 0.5], tiers: [[200000, [4, 12, 1]]] }]]],
  groq: [["qwen/qwen3.8-27b", 0, 131072, [0.8, 4]]],
  openrouter: [["qwen/qwen3.8-max", 0, 1000000, [2, 6]]],
};

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "packages/runtime/src/model");
const installed = JSON.parse(readFileSync(join(root, "node_modules/@pydantic/genai-prices/package.json"), "utf8")).version;
if (installed !== source.version)
  throw new Error(`genai-prices ${installed} is installed: write its date into ${import.meta.url}`);

const providers = await waitForUpdate();
const files = { "catalog-data.ts": toModule(providers.flatMap(providerLines)), "catalog-date.ts": toDateModule() };
for (const [name, text] of Object.entries(files)) {
  const target = join(folder, name);
  if (!process.argv.includes("--check")) {
    writeFileSync(target, text);
    console.log(`catalog: ${name}, ${text.length} characters`);
  } else if (readFileSync(target, "utf8") !== text) {
    console.error(`catalog: ${name} is not what scripts/generate-catalog.mjs writes; run it and commit the result`);
    process.exitCode = 1;
  }
}

/** A file of its own: the first frame of a run says the date, long before anybody needs a price. */
function toDateModule() {
  return `// Written by scripts/generate-catalog.mjs. Do not edit.

/** The day the built-in prices were published. */
export const pricesAsOf = "${source.asOf}";
`;
}

function toModule(lines) {
  const table = lines.join("\n");
  if (/`|\$\{/.test(table)) throw new Error("The table holds what a template literal cannot");
  return `// Written by scripts/generate-catalog.mjs, which says what the lines mean. Do not edit.
/*! Prices and windows: @pydantic/genai-prices ${source.version}, MIT License, Copyright (c) Pydantic Services Inc. 2025 to present */

export const table: string = String.raw\`
${table}
\`;
`;
}

/** A line `@provider fallback…`, then one line per model: [id, rules, window, price]; 0 stands for the id itself, or unknown. */
function providerLines(provider) {
  if (!provider.models.some(speaks)) return [];
  const heading = [`@${provider.id}`, ...(provider.fallback_model_providers ?? [])].join(" ");
  const rows = provider.models.map((model) => modelRow(model, provider));
  const added = additions[provider.id] ?? [];
  const known = added.find(([id]) => rows.some(([own]) => own === id));
  if (known) throw new Error(`The package has ${known[0]} now: it needs no line of its own`);
  return [heading, ...[...added, ...rows].map((row) => JSON.stringify(row))];
}

/** Models that only embed, transcribe or read documents have a price, but none for words they write: their names are kept alone. */
function speaks(model) {
  return tariffsOf(model).some(({ prices }) => Object.keys(prices).length === 0 || prices.output_mtok !== undefined);
}

function modelRow(model, provider) {
  const id = usableId(model, provider);
  const rules = toRules(model.match, id);
  const isId = rules.length === 1 && rules[0] === "=";
  const name = [id, isId ? 0 : rules];
  return speaks(model) ? [...name, windowOf(model, provider) ?? 0, toPrice(model)] : name;
}

/** Some entries are named by what the model is called in prose; a user needs what the provider's API takes. */
function usableId(model, provider) {
  const names = [model.id, ...literals(model.match)];
  return names.find((name) => firstMatch(provider, name) === model) ?? model.id;
}

function literals(rule) {
  const parts = rule.or ?? rule.and;
  if (parts) return parts.flatMap(literals);
  return [rule.equals ?? rule.starts_with ?? rule.contains ?? rule.ends_with ?? []].flat();
}

/**
 * Any of a list: "=whole", "^start", "$end", "*part", "/regex", {and: list}. Compared with an id in lower case.
 * "=" alone is the id of the row.
 */
function toRules(rule, id) {
  const rules = (rule.or ?? [rule]).flatMap((part) => (part.or ? toRules(part, id) : [toRule(part, id)]));
  return [...new Set(rules)];
}

function toRule(rule, id) {
  const [[kind, value], ...others] = Object.entries(rule);
  const sign = { equals: "=", starts_with: "^", ends_with: "$", contains: "*", regex: "/" }[kind];
  if (others.length > 0 || (!sign && kind !== "and")) throw new Error(`Unknown rule ${JSON.stringify(rule)}`);
  if (kind === "and") return { and: value.map((part) => toRule(part, id)) };
  if (kind === "regex") return sign + value;
  return kind === "equals" && value.toLowerCase() === id.toLowerCase() ? "=" : sign + value.toLowerCase();
}

/** A window that is missing at OpenRouter may stand with the model's maker, and the other way round. */
function windowOf(model, provider) {
  if (model.context_window) return model.context_window;
  if (provider.id !== "openrouter") return firstMatch(byId("openrouter"), `${provider.id}/${model.id}`)?.context_window;
  const [, maker, name] = /^([^/]+)\/(.+)$/.exec(model.id) ?? [];
  return maker && firstMatch(byId({ mistralai: "mistral", "z-ai": "zai" }[maker] ?? maker), name)?.context_window;
}

function byId(id) {
  return providers.find((provider) => provider.id === id);
}

function firstMatch(provider, name) {
  return provider?.models.find((model) => matches(model.match, name.toLowerCase()));
}

function matches(rule, name) {
  if (rule.or) return rule.or.some((part) => matches(part, name));
  if (rule.and) return rule.and.every((part) => matches(part, name));
  if (rule.equals !== undefined) return name === rule.equals.toLowerCase();
  if (rule.starts_with !== undefined) return name.startsWith(rule.starts_with.toLowerCase());
  if (rule.ends_with !== undefined) return name.endsWith(rule.ends_with.toLowerCase());
  if (rule.contains !== undefined) return name.includes(rule.contains.toLowerCase());
  return new RegExp(rule.regex).test(name);
}

/**
 * 0 when unknown, else a list of rates, else a list of tariffs: {rates, tiers?: [[above, rates]…], from?: "YYYY-MM-DD",
 * daily?: [second of the day, second]}, of which the last that is in force counts.
 */
function toPrice(model) {
  const tariffs = tariffsOf(model).map(({ constraint, prices }) => ({ ...toTiers(prices), ...toPeriod(constraint) }));
  const unpriced = tariffs.filter(({ rates }) => rates.length === 0);
  // No prices at all means free only where the name says so; elsewhere nobody has written them down.
  if (unpriced.length === tariffs.length) return model.id.endsWith(":free") ? [0, 0] : 0;
  if (unpriced.length > 0) throw new Error(`${model.id} has a price at some times only`);
  return tariffs.length === 1 && !tariffs[0].tiers && !tariffs[0].from && !tariffs[0].daily ? tariffs[0].rates : tariffs;
}

function tariffsOf(model) {
  return Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }];
}

function toPeriod(constraint) {
  if (!constraint) return {};
  if (constraint.type === "start_date") return { from: constraint.start_date };
  if (constraint.type === "time_of_date") return { daily: [constraint.start_time, constraint.end_time].map(secondOfDay) };
  throw new Error(`Unknown constraint ${JSON.stringify(constraint)}`);
}

function secondOfDay(time) {
  const [, hours, minutes, seconds] = /^(\d\d):(\d\d):(\d\d)Z$/.exec(time) ?? [];
  if (!hours) throw new Error(`Not a UTC time: ${time}`);
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

function toTiers(prices) {
  const starts = rateKeys.flatMap((key) => prices[key]?.tiers?.map((tier) => tier.start) ?? []);
  const borders = [...new Set(starts)].sort((a, b) => a - b);
  const rates = ratesAt(prices, 0);
  return borders.length === 0 ? { rates } : { rates, tiers: borders.map((above) => [above, ratesAt(prices, above + 1)]) };
}

function ratesAt(prices, inputTokens) {
  const rates = rateKeys.map((key) => rateAt(prices[key], inputTokens));
  return rates.slice(0, rates.findLastIndex((rate) => rate !== null) + 1);
}

function rateAt(price, inputTokens) {
  if (typeof price !== "object") return price ?? null;
  const tiers = [...price.tiers].sort((a, b) => a.start - b.start);
  return tiers.findLast((tier) => inputTokens > tier.start)?.price ?? price.base;
}
