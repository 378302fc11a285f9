import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import type { UsableSchema } from "./usable-schema.ts";

/** Every schema within a schema by its address, as the validator lists them; it notes the address a reference means beside it. */
export type SchemaLookup = Readonly<Record<string, JsonValue>>;

/**
 * Takes out references that lead nowhere, or back to themselves without having gone into the value. Then what excludes (`not`, `if`,
 * one of several forms) goes where it holds a part that now asks for less, or it would refuse everything.
 */
export function dropLostReferences({ schema, loosened }: UsableSchema, lookup: SchemaLookup): void {
  const references = new References(lookup, loosened);
  const all = new Set(Object.values(lookup).filter(isJsonObject)).add(schema);
  for (const one of all) references.follow(one);
  if (loosened.size === 0) return;
  for (const one of all) loosenExclusions(one, (part) => references.isLoose(part));
}

class References {
  readonly #lookup: SchemaLookup;
  readonly #loosened: Set<JsonObject>;
  readonly #open = new Set<JsonObject>();
  readonly #followed = new Set<JsonObject>();

  constructor(lookup: SchemaLookup, loosened: Set<JsonObject>) {
    this.#lookup = lookup;
    this.#loosened = loosened;
  }

  /** True when the way from here comes back to a schema it started from. */
  follow(schema: JsonValue | undefined): boolean {
    if (!isJsonObject(schema) || this.#followed.has(schema)) return false;
    if (this.#open.has(schema)) return true;
    this.#open.add(schema);
    if (schema["$ref"] !== undefined) {
      const target = this.#target(schema);
      if (target === undefined || this.follow(target)) {
        delete schema["$ref"];
        this.#loosened.add(schema);
      }
    }
    const leadsBack = forSameValue(schema).map((part) => this.follow(part));
    this.#open.delete(schema);
    this.#followed.add(schema);
    return leadsBack.includes(true);
  }

  isLoose(schema: JsonValue | undefined, seen: Set<JsonValue> = new Set()): boolean {
    if (typeof schema !== "object" || schema === null || seen.has(schema)) return false;
    seen.add(schema);
    if (isJsonObject(schema) && (this.#loosened.has(schema) || this.isLoose(this.#target(schema), seen))) return true;
    return Object.values(schema).some((part) => this.isLoose(part, seen));
  }

  #target(schema: JsonObject): JsonValue | undefined {
    if (schema["$ref"] === undefined) return undefined;
    return this.#lookup[String(schema["__absolute_ref__"] ?? schema["$ref"])];
  }
}

/** The schemas inside that judge the value itself, not one of its parts. */
function forSameValue(schema: JsonObject): JsonValue[] {
  const lists = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : []));
  const maps = ["dependentSchemas", "dependencies"].flatMap((keyword) => Object.values(Object(schema[keyword]) as JsonObject));
  return [...lists, ...maps, ...["not", "if", "then", "else"].flatMap((keyword) => schema[keyword] ?? [])];
}

function loosenExclusions(schema: JsonObject, isLoose: (part: JsonValue | undefined) => boolean): void {
  for (const keyword of ["not", "if"]) if (isLoose(schema[keyword])) delete schema[keyword];
  if (isLoose(schema["contains"])) delete schema["maxContains"];
  const forms = schema["oneOf"];
  if (forms === undefined || !isLoose(forms)) return;
  delete schema["oneOf"];
  schema["allOf"] = [...(Array.isArray(schema["allOf"]) ? schema["allOf"] : []), { anyOf: forms }];
}
