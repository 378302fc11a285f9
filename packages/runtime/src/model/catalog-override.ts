import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";
import type { ModelRecord } from "./capabilities/record.ts";
import type { Rates } from "./price.ts";

/** What the user knows about a model that the table does not, or knows better. Prices in US dollars per million tokens. */
export type ModelOverride = {
  readonly provider: string;
  readonly model: string;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly price?: Rates;
  /** Where it differs from what is known of it, or nothing is. */
  readonly capabilities?: Partial<ModelRecord>;
};

export type CatalogOverride = { readonly models: readonly ModelOverride[] };

/** Reads `{"models": [{"provider", "model", "contextWindow"?, "maxOutputTokens"?, "price"?: {"input", "output", …}, "capabilities"?: {…}}]}`. */
export function parseCatalogOverride(value: unknown): CatalogOverride {
  const { models } = fieldsOf(value, "the file", ["models"]);
  if (!Array.isArray(models)) throw invalid("models must be a list");
  return { models: models.map((model, index) => parseModel(model, `models[${index}]`)) };
}

function parseModel(value: unknown, at: string): ModelOverride {
  const fields = fieldsOf(value, at, ["provider", "model", "contextWindow", "maxOutputTokens", "price", "capabilities"]);
  const { capabilities } = fields;
  return {
    provider: parseName(fields["provider"], `${at}.provider`),
    model: parseName(fields["model"], `${at}.model`),
    ...parseNumbers(fields, { at, names: ["contextWindow", "maxOutputTokens"], parse: parseTokens }),
    ...(fields["price"] !== undefined && { price: parsePrice(fields["price"], `${at}.price`) }),
    ...(capabilities !== undefined && { capabilities: parseCapabilities(capabilities, `${at}.capabilities`) }),
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

const words = (...known: readonly string[]): Check => ({
  what: known.map((word) => `"${word}"`).join(" or "),
  is: (value) => known.includes(value as string),
});
const list: Check = {
  what: "a list of words",
  is: (value) => Array.isArray(value) && value.every((word) => typeof word === "string"),
};
const flag: Check = { what: "true or false", is: (value) => typeof value === "boolean" };
const day: Check = {
  what: "a day such as 2027-01-31",
  is: (value) => typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value),
};

type Check = { readonly what: string; is(value: unknown): boolean };

/** What of a record may be said otherwise, and how. */
const checks: Readonly<Record<string, Check>> = {
  thinking: list,
  efforts: list,
  temperature: words("any", "idle", "none"),
  retires: day,
  ...Object.fromEntries(
    ["stopSequences", "nativeSchema", "images", "pdf", "parallelCalls", "forcedToolChoice", "prefill"].map((name) => [
      name,
      flag,
    ]),
  ),
  editTool: words("replace", "patch"),
  chatTools: words("any", "unworded", "off", "never"),
  sendBack: words("nothing", "signed", "bound", "encrypted", "text"),
};

function parseCapabilities(value: unknown, at: string): Partial<ModelRecord> {
  const fields = fieldsOf(value, at, Object.keys(checks));
  for (const [name, said] of Object.entries(fields)) {
    const check = checks[name];
    if (check && !check.is(said)) throw invalid(`${at}.${name} must be ${check.what}, not ${JSON.stringify(said)}`);
  }
  return fields as Partial<ModelRecord>; // field by field, as just checked
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
