import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";

const types = ["string", "number", "integer", "boolean", "object", "array", "null"];
const oneSchema = [
  "items",
  "additionalProperties",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "unevaluatedProperties",
  "unevaluatedItems",
  "additionalItems",
];
const schemaMaps = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const schemaLists = ["allOf", "anyOf", "oneOf", "prefixItems"];
const counts = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"];
const numbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

/** A JSON Schema that can be checked against; throws a `usage` error that names the place otherwise. */
export function parseSchema(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw wrong("", "a JSON Schema is an object");
  checkSchema(value, "", { resource: value, ids: idsIn(value) });
  return value;
}

/** What references are looked up in. */
type Scope = { readonly resource: JsonObject; readonly ids: ReadonlySet<string> };

function checkSchema(schema: JsonObject, at: string, outer: Scope): void {
  checkTypes(schema["type"], `${at}/type`);
  for (const key of counts) {
    const count = schema[key];
    if (count !== undefined && !(Number.isInteger(count) && Number(count) >= 0))
      throw wrong(`${at}/${key}`, "expected a whole number from 0 up");
  }
  for (const key of numbers) {
    const number = schema[key];
    // Draft 4 had booleans for the exclusive limits.
    if (number !== undefined && typeof number !== "number" && typeof number !== "boolean")
      throw wrong(`${at}/${key}`, "expected a number");
  }
  const { required, enum: allowed, pattern, $ref, $id } = schema;
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === "string"))) {
    throw wrong(`${at}/required`, "expected a list of property names");
  }
  if (allowed !== undefined && !Array.isArray(allowed)) throw wrong(`${at}/enum`, "expected a list of values");
  if (pattern !== undefined) checkPattern(pattern, `${at}/pattern`);
  if (isJsonObject(schema["patternProperties"]))
    for (const key of Object.keys(schema["patternProperties"])) checkPattern(key, `${at}/patternProperties/${key}`);
  // A part with an address of its own is looked up in from its own root.
  const scope = typeof $id === "string" && !$id.startsWith("#") ? { ...outer, resource: schema } : outer;
  if ($ref !== undefined) checkReference($ref, `${at}/$ref`, scope);
  for (const [child, place] of childrenOf(schema, at)) {
    if (isJsonObject(child)) checkSchema(child, place, scope);
    else if (typeof child !== "boolean") throw wrong(place, "expected a schema: an object, true or false");
  }
}

function checkReference(reference: JsonValue, at: string, { resource, ids }: Scope): void {
  if (typeof reference !== "string") throw wrong(at, "expected a text");
  const [address = "", fragment = ""] = reference.split("#", 2);
  if (address !== "") {
    if ([...ids].some((id) => id === address || id.endsWith(`/${address}`))) return;
    throw wrong(at, `${reference} is not in this schema, and nothing is fetched; put it into $defs`);
  }
  if (!resolves(fragment, { resource, ids })) throw wrong(at, `${reference} leads nowhere`);
}

function checkPattern(pattern: JsonValue, at: string): void {
  if (typeof pattern !== "string") throw wrong(at, "expected a regular expression");
  try {
    new RegExp(pattern, "u");
  } catch (error) {
    throw wrong(at, error instanceof Error ? error.message : "expected a regular expression");
  }
}

function checkTypes(type: JsonValue | undefined, at: string): void {
  if (type === undefined) return;
  for (const name of Array.isArray(type) ? type : [type]) {
    if (typeof name === "string" && types.includes(name)) continue;
    const guess = typeof name === "string" ? nearest(name, types) : undefined;
    throw wrong(at, `there is no type ${JSON.stringify(name)}${guess ? `; did you mean "${guess}"?` : ""}`);
  }
}

function* childrenOf(schema: JsonObject, at: string): Generator<[JsonValue, string]> {
  for (const key of oneSchema) {
    const child = schema[key];
    if (Array.isArray(child)) for (const [index, item] of child.entries()) yield [item, `${at}/${key}/${index}`];
    else if (child !== undefined) yield [child, `${at}/${key}`];
  }
  for (const key of schemaMaps) {
    const map = schema[key];
    if (map === undefined) continue;
    if (!isJsonObject(map)) throw wrong(`${at}/${key}`, "expected an object of schemas");
    for (const [name, child] of Object.entries(map)) yield [child, `${at}/${key}/${name}`];
  }
  for (const key of schemaLists) {
    const list = schema[key];
    if (list === undefined) continue;
    if (!Array.isArray(list) || list.length === 0) throw wrong(`${at}/${key}`, "expected a list of schemas");
    for (const [index, child] of list.entries()) yield [child, `${at}/${key}/${index}`];
  }
}

function resolves(fragment: string, { resource, ids }: Scope): boolean {
  if (fragment === "") return true;
  if (!fragment.startsWith("/")) return ids.has(`#${fragment}`);
  let place: JsonValue | undefined = resource;
  for (const step of fragment.slice(1).split("/").map(decodeStep)) {
    const inside: JsonObject = Object(place); // lists are read by index the same way
    place = Object.hasOwn(inside, step) ? inside[step] : undefined;
  }
  return isJsonObject(place) || typeof place === "boolean";
}

function decodeStep(step: string): string {
  const plain = /%(?![0-9A-Fa-f]{2})/.test(step) ? step : decodeURIComponent(step);
  return plain.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Addresses and anchors (with `#`) that a schema gives its parts. */
function idsIn(value: JsonValue, found: Set<string> = new Set()): Set<string> {
  if (typeof value !== "object" || value === null) return found;
  if (Array.isArray(value)) {
    for (const item of value) idsIn(item, found);
    return found;
  }
  const { $id, $anchor, $dynamicAnchor } = value;
  if (typeof $id === "string") found.add($id.startsWith("#") ? $id : $id.replace(/#$/, ""));
  for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === "string") found.add(`#${anchor}`);
  for (const item of Object.values(value)) idsIn(item, found);
  return found;
}

function wrong(at: string, what: string): RuntimeError {
  return new RuntimeError("usage", `The JSON Schema is not valid at ${at || "its root"}: ${what}`);
}
