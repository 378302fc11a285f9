import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import { wellFormed, wellFormedValue } from "../../util/well-formed.ts";
import { flattenUnions } from "./flatten-unions.ts";
import { PropertyNames } from "./property-names.ts";
import { shortenSchema } from "./shorten-schema.ts";

/** A schema that every provider takes, what the tool's description has to add to it, and the other names of its properties. */
export type SendableSchema = { readonly schema: JsonObject; readonly note?: string; readonly names: PropertyNames };

const known = new WeakMap<object, SendableSchema>();

/**
 * Providers refuse a whole request because of one schema: unions at its top, keywords of older drafts, references that lead nowhere.
 * What is sent may say less than the original, never something else; calls are checked against the original.
 */
export function toSendableSchema(original: JsonObject): SendableSchema {
  const before = known.get(original);
  if (before) return before;
  const made = make(isJsonObject(original) ? original : {});
  known.set(original, made);
  return made;
}

function make(original: JsonObject): SendableSchema {
  const names = new PropertyNames();
  const cleaned = new Cleaner(original, names).clean(original, 0);
  const { schema, note: forms } = flattenUnions(cleaned);
  const { schema: short, note: cut } = shortenSchema({ ...schema, type: "object", properties: schema["properties"] ?? {} });
  const note = [forms, cut].filter((text) => text !== undefined).join(" ");
  return { schema: short, names, ...(note !== "" && { note }) };
}

const types: ReadonlySet<JsonValue | undefined> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
const words = ["title", "description", "format"];
const numbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const counts = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"];
const oneSchema = ["contains", "propertyNames", "not", "if", "then", "else"];
const schemaLists = ["anyOf", "oneOf", "allOf", "prefixItems"];
const maxDepth = 30;
/** References to anywhere are written out; a few of them could make a schema without end. */
const maxNodes = 20_000;

/** Keyword by keyword: what is not known or not well-formed is left out, what older drafts wrote otherwise is written as today. */
class Cleaner {
  readonly #root: JsonObject;
  readonly #names: PropertyNames;
  #nodes = 0;

  constructor(root: JsonObject, names: PropertyNames) {
    this.#root = root;
    this.#names = names;
  }

  clean(schema: JsonValue | undefined, depth: number): JsonObject {
    if (schema === false) return { not: {} };
    if (!isJsonObject(schema) || depth > maxDepth || ++this.#nodes > maxNodes) return {};
    const inner = (child: JsonValue | undefined): JsonObject => this.clean(child, depth + 1);
    return {
      ...this.#reference(schema, depth),
      ...typeOf(schema["type"]),
      ...pick(schema, words, (value) => (typeof value === "string" ? wellFormed(value) : undefined)),
      ...limitsOf(schema),
      ...pick(schema, counts, (value) => (Number.isInteger(value) && Number(value) >= 0 ? value : undefined)),
      ...pick(schema, ["pattern"], (value) => (isPattern(value) ? value : undefined)),
      ...pick(schema, ["enum", "examples"], (value) => (isFilled(value) ? wellFormedValue(value) : undefined)),
      ...pick(schema, ["const", "default"], (value) => wellFormedValue(value)),
      ...this.#objectParts(schema, inner),
      ...arrayParts(schema, inner),
      ...pick(schema, oneSchema, (value) => (typeof value === "boolean" || isJsonObject(value) ? inner(value) : undefined)),
      ...pick(schema, schemaLists, (value) => (isFilled(value) ? value.map(inner) : undefined)),
      ...(depth === 0 && pick(schema, ["$schema"], (value) => (isKnownDraft(value) ? value : undefined))),
      ...(depth === 0 &&
        pick(schema, ["$defs", "definitions"], (value) => (isJsonObject(value) ? mapValues(value, inner) : undefined))),
    };
  }

  #objectParts(schema: JsonObject, inner: (child: JsonValue) => JsonObject): JsonObject {
    const { properties, required, additionalProperties, patternProperties } = schema;
    const named = isJsonObject(properties) ? Object.entries(properties) : [];
    return {
      ...(isJsonObject(properties) && {
        properties: Object.fromEntries(named.map(([name, child]) => this.#property(name, inner(child)))),
      }),
      ...(Array.isArray(required) && { required: [...new Set(required.filter(isText))].map((name) => this.#names.toWire(name)) }),
      ...(typeof additionalProperties === "boolean" && { additionalProperties }),
      ...(isJsonObject(additionalProperties) && { additionalProperties: inner(additionalProperties) }),
      ...(isJsonObject(patternProperties) && {
        patternProperties: mapValues(
          Object.fromEntries(Object.entries(patternProperties).filter(([key]) => isPattern(key))),
          inner,
        ),
      }),
    };
  }

  #property(name: string, schema: JsonObject): [string, JsonObject] {
    const wire = this.#names.toWire(name);
    if (wire === name) return [name, schema];
    const description = [`The tool calls it ${JSON.stringify(wellFormed(name))}.`, schema["description"]]
      .filter(isText)
      .join(" ");
    return [wire, { ...schema, description }];
  }

  /** One to a definition stays; one to anywhere else is written out; one that leads nowhere or to itself says nothing. */
  #reference({ $ref: reference }: JsonObject, depth: number): JsonObject {
    if (typeof reference !== "string") return {};
    const target = this.#resolve(reference, new Set());
    if (target === undefined) return {};
    if (reference === "#" || /^#\/(\$defs|definitions)\/[\w.-]+$/.test(reference)) return { $ref: reference };
    return this.clean(target, depth + 1);
  }

  /** Follows references that are nothing else but that. */
  #resolve(reference: string, passed: Set<string>): JsonObject | undefined {
    if (passed.has(reference) || !/^#(\/|$)/.test(reference)) return undefined;
    passed.add(reference);
    let place: JsonValue | undefined = this.#root;
    for (const step of reference.split("/").slice(1)) {
      const name = decodeStep(step);
      place = typeof place === "object" && place !== null && Object.hasOwn(place, name) ? (place as JsonObject)[name] : undefined; // lists are read by index the same way
    }
    if (!isJsonObject(place)) return undefined;
    const next = place["$ref"];
    return typeof next === "string" && this.#resolve(next, passed) === undefined ? undefined : place;
  }
}

function typeOf(type: JsonValue | undefined): JsonObject {
  if (!Array.isArray(type)) return types.has(type) && type !== undefined ? { type } : {};
  const valid = [...new Set(type)].filter((name) => types.has(name));
  return valid.length > 0 ? { type: valid } : {};
}

/** Draft 4 said with a boolean that a limit is exclusive. */
function limitsOf(schema: JsonObject): JsonObject {
  const limits = pick(schema, numbers, (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined));
  for (const [plain, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    const limit = limits[plain];
    if (schema[exclusive] !== true || limit === undefined) continue;
    limits[exclusive] = limit;
    delete limits[plain];
  }
  if (!(Number(limits["multipleOf"]) > 0)) delete limits["multipleOf"];
  return limits;
}

/** Draft 7 wrote tuples as a list of `items`; OpenAI refuses an array that does not say what its items are. */
function arrayParts(schema: JsonObject, inner: (child: JsonValue) => JsonObject): JsonObject {
  const { items, additionalItems, type, uniqueItems } = schema;
  const isArray = type === "array" || (Array.isArray(type) && type.includes("array"));
  const unique = uniqueItems === true ? { uniqueItems } : {};
  if (Array.isArray(items) && items.length > 0)
    return { ...unique, items: additionalItems === undefined ? {} : inner(additionalItems), prefixItems: items.map(inner) };
  if (items !== undefined) return { ...unique, items: inner(Array.isArray(items) ? {} : items) };
  return isArray ? { ...unique, items: {} } : unique;
}

function pick(schema: JsonObject, keywords: readonly string[], take: (value: JsonValue) => JsonValue | undefined): JsonObject {
  const found: JsonObject = {};
  for (const keyword of keywords) {
    const given = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    const value = given === undefined ? undefined : take(given);
    if (value !== undefined) found[keyword] = value;
  }
  return found;
}

function mapValues(map: JsonObject, change: (value: JsonValue) => JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [wellFormed(name), change(value)]));
}

function isKnownDraft(value: JsonValue): boolean {
  return typeof value === "string" && /^https?:\/\/json-schema\.org\/(draft-07|draft\/2020-12)\/schema#?$/.test(value);
}

function isFilled(value: JsonValue): value is JsonValue[] {
  return Array.isArray(value) && value.length > 0;
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string";
}

function isPattern(value: JsonValue): value is string {
  if (typeof value !== "string" || !value.isWellFormed()) return false;
  try {
    new RegExp(value, "u");
    return true;
  } catch {
    return false;
  }
}

function decodeStep(step: string): string {
  const plain = /%(?![0-9A-Fa-f]{2})/.test(step) ? step : safeDecode(step);
  return plain.replaceAll("~1", "/").replaceAll("~0", "~");
}

function safeDecode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
