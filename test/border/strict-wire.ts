import { isJsonObject, type JsonObject, type JsonValue } from "../../packages/runtime/src/protocol/content.ts";
import type { RecordedRequest, ServerReply } from "../../packages/runtime/src/testing/model-server.ts";

/** What the four providers refuse a request for, in the words of the first of them: empty for a request that all of them take. */
export function refusalsOf(body: unknown): string[] {
  return [...textProblems(body, ""), ...imageProblems(body), ...toolProblems(body), ...callProblems(body)];
}

/** Answers as a provider that checks everything does: with a 400, or as it is told to. */
export function strictly(
  reply: (request: RecordedRequest, index: number) => ServerReply,
): (request: RecordedRequest, index: number) => ServerReply {
  return (request, index) => {
    const [problem] = refusalsOf(request.body);
    if (problem === undefined) return reply(request, index);
    return { status: 400, body: { type: "error", error: { type: "invalid_request_error", message: problem } } };
  };
}

function* textProblems(value: unknown, place: string): Generator<string> {
  if (typeof value === "string") {
    if (!value.isWellFormed()) yield `${place}: no low surrogate in string`;
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    if (!name.isWellFormed()) yield `${place}: no low surrogate in a name`;
    yield* textProblems(item, `${place}.${name}`);
  }
}

type Image = { mediaType: string; data: string };

const signatures: Readonly<Record<string, RegExp>> = {
  "image/png": /^\x89PNG\r\n.\n.*IEND/s,
  "image/jpeg": /^\xff\xd8\xff/,
  "image/gif": /^GIF8[79]a/,
  "image/webp": /^RIFF....WEBP/s,
};

export function imagesOf(value: unknown): Image[] {
  if (Array.isArray(value)) return value.flatMap(imagesOf);
  if (!isJsonObject(value)) return [];
  const { source, inlineData, image_url: url } = value;
  if (isJsonObject(source) && source["type"] === "base64")
    return [{ mediaType: String(source["media_type"]), data: String(source["data"]) }];
  if (isJsonObject(inlineData)) return [{ mediaType: String(inlineData["mimeType"]), data: String(inlineData["data"]) }];
  const address = isJsonObject(url) ? url["url"] : url;
  const [, mediaType, data] = /^data:([^;]*);base64,(.*)$/s.exec(typeof address === "string" ? address : "") ?? [];
  if (address !== undefined) return [{ mediaType: mediaType ?? "none", data: data ?? "" }];
  return Object.values(value).flatMap(imagesOf);
}

function* imageProblems(body: unknown): Generator<string> {
  const images = imagesOf((body as JsonObject)["messages"] ?? (body as JsonObject)["input"] ?? (body as JsonObject)["contents"]);
  if (images.length > 100) yield "too many images";
  if (images.reduce((sum, { data }) => sum + data.length, 0) > 20 * 1024 * 1024) yield "request_too_large";
  for (const { mediaType, data } of images) {
    const bytes = Buffer.from(data, "base64");
    if (bytes.toString("base64") !== data || data === "") yield "image: invalid base64 data";
    if (data.length > 5 * 1024 * 1024) yield `image exceeds 5 MB maximum: ${data.length} bytes > 5242880 bytes`;
    if (signatures[mediaType]?.test(bytes.toString("latin1")) !== true) yield `image: Could not process image (${mediaType})`;
    if (mediaType === "image/png" && Math.max(bytes.readUInt32BE(16), bytes.readUInt32BE(20)) > 8_000)
      yield "image dimensions exceed max allowed size: 8000 pixels";
  }
}

const toolName = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/** Tools of all four wires in one form. */
export function toolsOf(body: unknown): { name: string; schema: JsonValue | undefined }[] {
  const tools = (body as { tools?: JsonObject[] }).tools ?? [];
  return tools.flatMap((tool) => {
    const declared = Array.isArray(tool["functionDeclarations"]) ? (tool["functionDeclarations"] as JsonObject[]) : [tool];
    return declared.map((each) => {
      const inner = isJsonObject(each["function"]) ? each["function"] : each;
      return {
        name: String(inner["name"]),
        schema: inner["input_schema"] ?? inner["parameters"] ?? inner["parametersJsonSchema"],
      };
    });
  });
}

function* toolProblems(body: unknown): Generator<string> {
  const tools = toolsOf(body);
  if (new Set(tools.map(({ name }) => name)).size < tools.length) yield "tools: Tool names must be unique.";
  for (const [index, { name, schema }] of tools.entries()) {
    if (!toolName.test(name)) yield `tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`;
    if (schema === undefined) continue; // Gemini: no parameters
    const place = `tools.${index}.custom.input_schema`;
    if (!isJsonObject(schema) || schema["type"] !== "object") yield `${place}.type: Field required`;
    for (const union of ["anyOf", "oneOf", "allOf", "enum", "not", "$ref"])
      if (isJsonObject(schema) && union in schema) yield `${place}: input_schema does not support ${union} at the top level`;
    if (JSON.stringify(schema).length > 100_000) yield `${place}: too long`;
    yield* schemaProblems(schema, schema, place);
  }
}

const types = ["string", "number", "integer", "boolean", "object", "array", "null"];

function* schemaProblems(schema: JsonValue | undefined, root: JsonValue, place: string): Generator<string> {
  if (!isJsonObject(schema)) return;
  const invalid = `${place}: JSON schema is invalid. It must match JSON Schema draft 2020-12`;
  const { type, properties, required, items, $ref: reference } = schema;
  if (type !== undefined && ![type].flat().every((name) => types.includes(String(name)))) yield `${invalid} (type)`;
  if ([type].flat().includes("array") && items === undefined) yield `${place}: array schema missing items`;
  if (items !== undefined && typeof items !== "boolean" && !isJsonObject(items)) yield `${invalid} (items)`;
  if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === "string")))
    yield `${invalid} (required)`;
  for (const key of ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])
    if (schema[key] !== undefined && typeof schema[key] !== "number") yield `${invalid} (${key})`;
  if (reference !== undefined && !leadsSomewhere(String(reference), root)) yield `${place}: ${reference} cannot be resolved`;
  if (properties !== undefined && !isJsonObject(properties)) yield `${invalid} (properties)`;
  for (const [name, child] of Object.entries(isJsonObject(properties) ? properties : {})) {
    if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name))
      yield `${place}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`;
    if (!isJsonObject(child)) yield `${invalid} (${name})`;
    yield* schemaProblems(child, root, `${place}.properties.${name}`);
  }
  for (const key of ["items", "additionalProperties"]) yield* schemaProblems(schema[key], root, `${place}.${key}`);
  for (const key of ["anyOf", "oneOf", "allOf", "prefixItems"]) {
    const list = schema[key];
    if (list !== undefined && !(Array.isArray(list) && list.length > 0)) yield `${invalid} (${key})`;
    for (const child of Array.isArray(list) ? list : []) yield* schemaProblems(child, root, `${place}.${key}`);
  }
  for (const key of ["$defs", "definitions"])
    for (const child of Object.values((schema[key] as JsonObject) ?? {})) yield* schemaProblems(child, root, `${place}.${key}`);
}

function leadsSomewhere(reference: string, root: JsonValue): boolean {
  let place: JsonValue | undefined = root;
  for (const step of reference.split("/").slice(1)) place = isJsonObject(place) ? place[step] : undefined;
  return reference.startsWith("#") && isJsonObject(place) && (place["$ref"] === undefined || place["$ref"] !== reference);
}

/** Names of calls in the conversation itself. */
function* callProblems(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const item of value) yield* callProblems(item);
  if (!isJsonObject(value)) return;
  const isCall = value["type"] === "tool_use" || value["type"] === "function_call";
  const call = isJsonObject(value["functionCall"]) ? value["functionCall"] : isCall ? value : undefined;
  const wrapped = value["type"] === "function" && isJsonObject(value["function"]) ? value["function"] : undefined;
  const name = call?.["name"] ?? wrapped?.["name"];
  if (name !== undefined && !toolName.test(String(name))) yield `tool_use.name: ${JSON.stringify(name)} should match pattern`;
  for (const [key, item] of Object.entries(value)) if (key !== "input" && key !== "args") yield* callProblems(item);
}
