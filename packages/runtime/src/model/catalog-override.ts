import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";
import type { Rates } from "./price.ts";

/** What the user knows about a model that the table does not, or knows better. Prices in US dollars per million tokens. */
export type ModelOverride = {
  readonly provider: string;
  readonly model: string;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly price?: Rates;
};

export type CatalogOverride = { readonly models: readonly ModelOverride[] };

/** Reads `{"models": [{"provider", "model", "contextWindow"?, "maxOutputTokens"?, "price"?: {"input", "output", …}}]}`. */
export function parseCatalogOverride(value: unknown): CatalogOverride {
  const { models } = fieldsOf(value, "the file", ["models"]);
  if (!Array.isArray(models)) throw invalid("models must be a list");
  return { models: models.map((model, index) => parseModel(model, `models[${index}]`)) };
}

function parseModel(value: unknown, at: string): ModelOverride {
  const fields = fieldsOf(value, at, ["provider", "model", "contextWindow", "maxOutputTokens", "price"]);
  return {
    provider: parseName(fields["provider"], `${at}.provider`),
    model: parseName(fields["model"], `${at}.model`),
    ...parseNumbers(fields, { at, names: ["contextWindow", "maxOutputTokens"], parse: parseTokens }),
    ...(fields["price"] !== undefined && { price: parsePrice(fields["price"], `${at}.price`) }),
  };
}

function parsePrice(value: unknown, at: string): Rates {
  const extras = ["cacheRead", "cacheWrite", "cacheWrite1h", "reasoning", "request"] as const;
  const fields = fieldsOf(value, at, ["input", "output", ...extras]);
  return {
    input: parseRate(fields["input"], `${at}.input`),
    output: parseRate(fields["output"], `${at}.output`),
    ...parseNumbers(fields, { at, names: extras, parse: parseRate }),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown, at: string, known: readonly string[]): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(`${at} must be an object`);
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue;
    const guess = nearest(name, known);
    throw invalid(
      `${at} has an unknown field ${JSON.stringify(name)}.${guess ? ` Did you mean ${guess}?` : ""} Known: ${known.join(", ")}`,
    );
  }
  return value as Fields; // an object, as just checked
}

function parseNumbers<Name extends string>(
  fields: Fields,
  { at, names, parse }: { at: string; names: readonly Name[]; parse(value: unknown, at: string): number },
): { [Key in Name]?: number } {
  const given = names.filter((name) => fields[name] !== undefined).map((name) => [name, parse(fields[name], `${at}.${name}`)]);
  return Object.fromEntries(given) as { [Key in Name]?: number }; // fromEntries forgets the names
}

function parseName(value: unknown, at: string): string {
  if (typeof value === "string" && value.trim()) return value.trim();
  throw invalid(`${at} must be a text that is not empty`);
}

function parseTokens(value: unknown, at: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  throw invalid(`${at} must be a whole number above 0, not ${JSON.stringify(value)}`);
}

function parseRate(value: unknown, at: string): number {
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  throw invalid(`${at} must be a number of US dollars, at least 0, not ${JSON.stringify(value)}`);
}

function invalid(problem: string): RuntimeError {
  return new RuntimeError("config", `The model catalog override is not valid: ${problem}`);
}
