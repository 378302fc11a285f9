import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";

/** A copy of a schema that a validator can use, and the parts of it that ask for less than they did. */
export type UsableSchema = { readonly schema: JsonObject; readonly loosened: Set<JsonObject> };

/**
 * A schema without keywords that say nothing because they are not well-formed. They are not sent to models, which could not heed them, so
 * nothing is checked against them either.
 */
export function toUsableSchema(schema: JsonObject, draft: string): UsableSchema {
  const cleaner = new Cleaner(draft);
  return { schema: cleaner.object(schema, 0), loosened: cleaner.loosened };
}

const types: ReadonlySet<JsonValue> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
/** Deeper than any input may be. */
const maxDepth = 250;

type Clean = (value: JsonValue, inner: (child: JsonValue) => JsonValue) => JsonValue | undefined;

const count: Clean = (value) => (Number.isInteger(value) && Number(value) >= 0 ? value : undefined);
const limit: Clean = (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);
const text: Clean = (value) => (typeof value === "string" ? value : undefined);
const yesOrNo: Clean = (value) => (typeof value === "boolean" ? value : undefined);
const names: Clean = (value) => (Array.isArray(value) ? value.filter((name) => typeof name === "string") : undefined);
const oneSchema: Clean = (value, inner) => (typeof value === "boolean" || isJsonObject(value) ? inner(value) : undefined);
const schemaList: Clean = (value, inner) => (Array.isArray(value) && value.length > 0 ? value.map(inner) : undefined);
const schemaMap: Clean = (value, inner) => (isJsonObject(value) ? mapValues(value, inner) : undefined);
const anything: Clean = (value) => structuredClone(value);

/** What each keyword must look like. An unknown keyword may hold schemas that references lead to, so it is read like one. */
const keywords: Readonly<Record<string, Clean>> = {
  type: typesIn,
  const: anything,
  default: anything,
  examples: anything,
  enum: (value) => (Array.isArray(value) && value.length > 0 ? structuredClone(value) : undefined),
  required: names,
  pattern: (value) => (isPattern(value) ? value : undefined),
  // The validator looks formats up by name and would find what every object has.
  format: (value) => (typeof value === "string" && !(value in {}) ? value : undefined),
  $id: address,
  id: address,
  $ref: address,
  $anchor: text,
  $schema: text,
  uniqueItems: yesOrNo,
  multipleOf: (value) => (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined),
  dependentRequired: (value) =>
    isJsonObject(value) ? mapValues(value, (list) => names(list, (child) => child) ?? []) : undefined,
  dependencies: (value, inner) =>
    isJsonObject(value) ? mapValues(value, (one) => names(one, inner) ?? oneSchema(one, inner) ?? true) : undefined,
  patternProperties: (value, inner) =>
    isJsonObject(value)
      ? mapValues(Object.fromEntries(Object.entries(value).filter(([key]) => isPattern(key))), inner)
      : undefined,
  items: (value, inner) => (Array.isArray(value) ? value.map(inner) : oneSchema(value, inner)),
  ...each(
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"],
    count,
  ),
  ...each(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], limit),
  ...each(["properties", "$defs", "definitions", "dependentSchemas"], schemaMap),
  ...each(["allOf", "anyOf", "oneOf", "prefixItems"], schemaList),
  ...each(["additionalProperties", "unevaluatedProperties", "propertyNames", "additionalItems", "unevaluatedItems"], oneSchema),
  ...each(["contains", "not", "if", "then", "else"], oneSchema),
};

class Cleaner {
  readonly loosened = new Set<JsonObject>();
  readonly #draft: string;
  readonly #addresses = new Set<JsonValue>();

  constructor(draft: string) {
    this.#draft = draft;
  }

  object(schema: JsonObject, depth: number): JsonObject {
    const inner = (child: JsonValue): JsonValue => this.#child(child, depth + 1);
    const kept = Object.entries(schema).flatMap(([keyword, value]): [string, JsonValue][] => {
      const usable = this.#keyword(keyword, value, inner);
      return usable === undefined ? [] : [[keyword, usable]];
    });
    const cleaned = this.#modern(Object.fromEntries(kept), schema);
    if (Object.entries(schema).some(([keyword, value]) => says(value) !== says(cleaned[keyword]))) this.loosened.add(cleaned);
    return cleaned;
  }

  #child(schema: JsonValue, depth: number): JsonValue {
    if (typeof schema === "boolean") return schema;
    if (isJsonObject(schema) && depth <= maxDepth) return this.object(schema, depth);
    const anything: JsonObject = {};
    this.loosened.add(anything);
    return anything;
  }

  #keyword(keyword: string, value: JsonValue, inner: (child: JsonValue) => JsonValue): JsonValue | undefined {
    if (this.#draft === "4" && keyword.startsWith("exclusive") && typeof value === "boolean") return value;
    const clean = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
    if (!clean) return isJsonObject(value) ? inner(value) : structuredClone(value);
    const usable = clean(value, inner);
    // Two schemas of one address are refused whole by the validator; the first is the one that references mean.
    if (keyword !== "$id" && keyword !== "id" && keyword !== "$anchor") return usable;
    if (usable === undefined || this.#addresses.has(usable)) return undefined;
    this.#addresses.add(usable);
    return usable;
  }

  /** Draft 4 said with a boolean that a limit is exclusive, and 2019-09 had a name of its own for one kind of reference. */
  #modern(kept: JsonObject, schema: JsonObject): JsonObject {
    const { $recursiveRef, ...written } = kept;
    if ($recursiveRef === "#") written["$ref"] ??= "#";
    if (this.#draft === "4") return written;
    for (const [plain, exclusive] of [
      ["minimum", "exclusiveMinimum"],
      ["maximum", "exclusiveMaximum"],
    ] as const) {
      const bound = written[plain];
      if (schema[exclusive] !== true || bound === undefined) continue;
      written[exclusive] = bound;
      delete written[plain];
    }
    return written;
  }
}

/** How much a keyword's own value says, for a comparison: parts that are schemas are compared by themselves. */
function says(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `list of ${value.length}`;
  return isJsonObject(value) ? `map of ${Object.keys(value).length}` : typeof value;
}

function typesIn(value: JsonValue): JsonValue | undefined {
  if (!Array.isArray(value)) return types.has(value) ? value : undefined;
  const known = value.filter((name) => types.has(name));
  return known.length > 0 ? known : undefined;
}

function isPattern(value: JsonValue): value is string {
  if (typeof value !== "string") return false;
  try {
    new RegExp(value, "u");
    return true;
  } catch {
    return false;
  }
}

function address(value: JsonValue): JsonValue | undefined {
  return typeof value === "string" && URL.canParse(value, "https://schema.invalid") ? value : undefined;
}

function mapValues(map: JsonObject, change: (value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}

function each(names: readonly string[], clean: Clean): Record<string, Clean> {
  return Object.fromEntries(names.map((name) => [name, clean]));
}
