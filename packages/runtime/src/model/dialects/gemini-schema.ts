import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";

/** The keywords that Gemini documents for a schema; others are refused by some of its endpoints. */
const kept: ReadonlySet<string> = new Set([
  "type",
  "format",
  "title",
  "description",
  "enum",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "pattern",
  "minimum",
  "maximum",
  "required",
  "default",
]);

/** A tool's schema in Gemini's part of JSON Schema. It says less than the original: calls are checked against that. */
export function toGeminiSchema(schema: JsonObject): JsonObject {
  if (isDocumented(schema)) return schema;
  const definitions = { ...objectOf(schema["definitions"]), ...objectOf(schema["$defs"]) };
  return new Converter(definitions).convert(schema, []);
}

const nested: ReadonlySet<string> = new Set(["properties", "items", "additionalProperties"]);

/** Nothing has to change: the request stays as it was, to the byte. */
function isDocumented(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema)) return typeof schema === "boolean";
  return (
    Object.entries(schema).every(([keyword, value]) => {
      if (keyword === "properties")
        return isJsonObject(value) && Object.values(value).every((child) => isJsonObject(child) && isDocumented(child));
      if (nested.has(keyword)) return isDocumented(value);
      return kept.has(keyword);
    }) && isFitting(schema["required"], schema["properties"])
  );
}

/** Gemini refuses to require what is not described. */
function isFitting(required: JsonValue | undefined, properties: JsonValue | undefined): boolean {
  return required === undefined || (Array.isArray(required) && required.every((name) => String(name) in objectOf(properties)));
}

/** A few references to references to references could make a schema without end. */
const maxNodes = 5_000;

class Converter {
  readonly #definitions: JsonObject;
  #nodes = 0;

  constructor(definitions: JsonObject) {
    this.#definitions = definitions;
  }

  /** References are written out, and one that leads back into itself ends there. */
  convert(schema: JsonValue | undefined, within: readonly string[]): JsonObject {
    if (!isJsonObject(schema) || ++this.#nodes > maxNodes) return {};
    const { $ref: reference, ...rest } = schema;
    if (typeof reference === "string") return this.#convertReference(reference, rest, within);
    const inner = (child: JsonValue | undefined): JsonObject => this.convert(child, within);
    const { properties, items, prefixItems, additionalProperties, anyOf, oneOf, allOf, required } = schema;
    const parts = listOf(allOf).map(inner);
    const whole: JsonObject = {
      ...Object.fromEntries(Object.entries(schema).filter(([keyword]) => kept.has(keyword) && keyword !== "required")),
      ...("const" in schema && { enum: [schema["const"] ?? null] }),
      ...limit(schema, "exclusiveMinimum", "minimum"),
      ...limit(schema, "exclusiveMaximum", "maximum"),
      ...(items !== undefined && { items: inner(items) }),
      ...(Array.isArray(prefixItems) && { prefixItems: prefixItems.map(inner) }),
      ...(typeof additionalProperties === "boolean" && { additionalProperties }),
      ...(isJsonObject(additionalProperties) && { additionalProperties: inner(additionalProperties) }),
      ...unionOf([...listOf(anyOf), ...listOf(oneOf)].map(inner)),
    };
    const described = Object.assign(
      {},
      ...parts.map((part) => objectOf(part["properties"])),
      mapValues(objectOf(properties), inner),
    );
    const names = [required, ...parts.map((part) => part["required"])]
      .flatMap(listOf)
      .filter((name) => String(name) in described);
    return {
      ...Object.assign({}, ...parts),
      ...whole,
      ...((isJsonObject(properties) || Object.keys(described).length > 0) && { properties: described }),
      ...(names.length > 0 && { required: [...new Set(names)] }),
    };
  }

  #convertReference(reference: string, beside: JsonObject, within: readonly string[]): JsonObject {
    const name = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(reference)?.[1];
    const target = name === undefined || !Object.hasOwn(this.#definitions, name) ? undefined : this.#definitions[name];
    const described = this.convert(beside, within);
    if (name === undefined || within.includes(name) || within.length > maxReferences) return { ...typeOf(target), ...described };
    return { ...this.convert(target, [...within, name]), ...described };
  }
}

const maxReferences = 6;

function typeOf(schema: JsonValue | undefined): JsonObject {
  const type = isJsonObject(schema) ? schema["type"] : undefined;
  return typeof type === "string" ? { type } : {};
}

function limit(schema: JsonObject, keyword: string, as: string): JsonObject {
  const value = schema[keyword];
  return typeof value === "number" ? { [as]: value } : {};
}

function unionOf(variants: JsonObject[]): JsonObject {
  return variants.length > 0 ? { anyOf: variants } : {};
}

function mapValues(map: JsonObject, change: (value: JsonValue) => JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
