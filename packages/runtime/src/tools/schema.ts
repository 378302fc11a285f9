import type { JsonObject, JsonValue } from "../protocol/content.ts";
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
  if (!isObject(value)) throw wrong("", "a JSON Schema is an object");
  checkSchema(value, "", value);
  return value;
}

function checkSchema(schema: JsonObject, at: string, root: JsonObject): void {
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
  const { required, enum: allowed, pattern, $ref } = schema;
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === "string"))) {
    throw wrong(`${at}/required`, "expected a list of property names");
  }
  if (allowed !== undefined && !Array.isArray(allowed)) throw wrong(`${at}/enum`, "expected a list of values");
  if (pattern !== undefined && !isRegExp(pattern)) throw wrong(`${at}/pattern`, "expected a regular expression");
  if (typeof $ref === "string" && $ref.startsWith("#") && !resolves($ref, root))
    throw wrong(`${at}/$ref`, `${$ref} leads nowhere`);
  for (const [child, place] of childrenOf(schema, at)) {
    if (isObject(child)) checkSchema(child, place, root);
    else if (typeof child !== "boolean") throw wrong(place, "expected a schema: an object, true or false");
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
    if (!isObject(map)) throw wrong(`${at}/${key}`, "expected an object of schemas");
    for (const [name, child] of Object.entries(map)) yield [child, `${at}/${key}/${name}`];
  }
  for (const key of schemaLists) {
    const list = schema[key];
    if (list === undefined) continue;
    if (!Array.isArray(list) || list.length === 0) throw wrong(`${at}/${key}`, "expected a list of schemas");
    for (const [index, child] of list.entries()) yield [child, `${at}/${key}/${index}`];
  }
}

function resolves(reference: string, root: JsonObject): boolean {
  const path = reference.slice(1);
  if (path === "") return true;
  if (!path.startsWith("/"))
    return JSON.stringify(root).includes(`"$anchor":${JSON.stringify(path)}`) || JSON.stringify(root).includes(`"$id":`);
  let place: JsonValue | undefined = root;
  for (const step of path.slice(1).split("/").map(decodeStep)) {
    place = typeof place === "object" && place !== null ? (place as JsonObject)[step] : undefined; // arrays are read by index the same way
  }
  return place !== undefined;
}

function decodeStep(step: string): string {
  return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
}

function isRegExp(pattern: JsonValue): boolean {
  try {
    return typeof pattern === "string" && new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(at: string, what: string): RuntimeError {
  return new RuntimeError("usage", `The JSON Schema is not valid at ${at || "its root"}: ${what}`);
}
