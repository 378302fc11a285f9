import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";

const unions = ["anyOf", "oneOf"] as const;
/** What Anthropic or OpenAI refuse at the top of a tool's schema. */
const refusedAtTop = ["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"];
const maxDepth = 8;
/** References are followed; a few of them could lead to forms without end. */
const maxParts = 2_000;
const maxForms = 6;

/** One object with the properties of all forms that the input may have; the forms themselves are told in words. */
export function flattenUnions(schema: JsonObject): { schema: JsonObject; note?: string } {
  if (!refusedAtTop.some((keyword) => keyword in schema)) return { schema };
  const { properties, required, forms } = flatten(schema, { root: schema, parts: 0 }, 0);
  const rest = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !refusedAtTop.includes(keyword)));
  // Closed to other properties it could not be: each form said so for itself.
  delete rest["additionalProperties"];
  const flat = { ...rest, type: "object", properties, ...(required.length > 0 && { required }) };
  return forms.length > 1 ? { schema: flat, note: `Its input takes one of these forms: ${inWords(forms)}.` } : { schema: flat };
}

type Flat = { readonly properties: JsonObject; readonly required: string[]; readonly forms: readonly string[] };

type Walk = { readonly root: JsonObject; parts: number };

function flatten(schema: JsonValue | undefined, walk: Walk, depth: number): Flat {
  if (!isJsonObject(schema) || depth > maxDepth || ++walk.parts > maxParts) return { properties: {}, required: [], forms: [] };
  const together = [definitionOf(schema["$ref"], walk.root), ...listOf(schema["allOf"])].map((part) =>
    flatten(part, walk, depth + 1),
  );
  const own: Flat = {
    properties: isJsonObject(schema["properties"]) ? schema["properties"] : {},
    required: listOf(schema["required"]).filter((name) => typeof name === "string"),
    forms: [],
  };
  const either = unions.flatMap((union) => {
    const variants = listOf(schema[union]).map((variant) => flatten(variant, walk, depth + 1));
    return variants.length === 0 ? [] : [oneOfThem(variants)];
  });
  const all = [own, ...together, ...either];
  return {
    properties: all.reduce((sum, { properties }) => mergeProperties(sum, properties), {}),
    required: [...new Set(all.flatMap(({ required }) => required))],
    forms: all.flatMap(({ forms }) => forms),
  };
}

/** Only what every form requires is required of all. */
function oneOfThem(variants: readonly Flat[]): Flat {
  const [first, ...others] = variants.map(({ required }) => required);
  return {
    properties: variants.reduce((sum, { properties }) => mergeProperties(sum, properties), {}),
    required: (first ?? []).filter((name) => others.every((names) => names.includes(name))),
    forms: variants.map(({ properties, required }) => formOf(Object.keys(properties), required)),
  };
}

function formOf(names: readonly string[], required: readonly string[]): string {
  const listed = names.map((name) => (required.includes(name) ? name : `${name}?`));
  return `{${[...listed, ...required.filter((name) => !names.includes(name))].join(", ")}}`;
}

function inWords(forms: readonly string[]): string {
  const distinct = [...new Set(forms)];
  const more = distinct.length > maxForms ? ` or ${distinct.length - maxForms} more` : "";
  return distinct.slice(0, maxForms).join(" or ") + more;
}

function mergeProperties(a: JsonObject, b: JsonObject): JsonObject {
  const merged = new Map(Object.entries(a));
  for (const [name, schema] of Object.entries(b)) {
    const other = merged.get(name);
    if (other === undefined) merged.set(name, schema);
    else if (JSON.stringify(other) !== JSON.stringify(schema)) merged.set(name, { anyOf: [...formsOf(other), schema] });
  }
  return Object.fromEntries(merged);
}

function formsOf(schema: JsonValue): JsonValue[] {
  const isUnion = isJsonObject(schema) && Object.keys(schema).length === 1 && Array.isArray(schema["anyOf"]);
  return isUnion ? listOf(schema["anyOf"]) : [schema];
}

function definitionOf(reference: JsonValue | undefined, root: JsonObject): JsonValue | undefined {
  const [, keyword = "", name = ""] = /^#\/(\$defs|definitions)\/(.+)$/.exec(String(reference ?? "")) ?? [];
  const definitions = root[keyword];
  return isJsonObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
