import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import type { Described, Parameter, Route } from "./route.ts";
import { problem } from "./schemas.ts";

/** OpenAPI 3.1, from the table that requests are checked by. */
export function toOpenApi(routes: readonly Route[], version: string): JsonObject {
  const components = new Map<string, JsonValue>();
  const lift = (schema: JsonValue): JsonValue => liftSchemas(schema, components);
  const paths: Record<string, JsonObject> = {};
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route, lift) };
  const wrong = { description: "What is wrong, with a code", content: { "application/problem+json": { schema: lift(problem) } } };
  const problems = { "4XX": wrong, default: wrong };
  for (const operations of Object.values(paths))
    for (const operation of Object.values(operations)) {
      if (!isJsonObject(operation) || !isJsonObject(operation["responses"])) continue;
      operation["responses"] = { ...operation["responses"], ...problems };
    }
  return {
    openapi: "3.1.0",
    info: { title: "Outrider", version, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: Object.fromEntries([...components].sort(([one], [other]) => one.localeCompare(other, "en"))),
    },
  };
}

type Lift = (schema: JsonValue) => JsonValue;

function operationOf(route: Route, lift: Lift): JsonObject {
  const { operationId, summary, scope, body, isBodyOptional = false, query = [], keyed, answers, path } = route;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const parameters = [
    ...inPath.map((name) => toParameter({ name, schema: { type: "string" }, description: "" }, "path", lift)),
    ...query.map((parameter) => toParameter(parameter, "query", lift)),
    ...(keyed ? [toParameter(keyHeader, "header", lift)] : []),
  ];
  return {
    operationId,
    summary,
    ...(scope === undefined ? { security: [] } : { description: `Needs the scope ${scope}.` }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: !isBodyOptional, content: { "application/json": { schema: lift(body) } } } }),
    responses: Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, toResponse(answer, lift)])),
  };
}

const keyHeader: Parameter = {
  name: "Idempotency-Key",
  schema: { type: "string", minLength: 1, maxLength: 255 },
  description: "The same key again is the same request: nothing is done twice.",
};

function toParameter({ name, schema, description }: Parameter, place: "path" | "query" | "header", lift: Lift): JsonObject {
  return { name, in: place, required: place === "path", schema: lift(schema), ...(description && { description }) };
}

function toResponse(answer: Described | readonly Described[], lift: Lift): JsonObject {
  const all = Array.isArray(answer) ? (answer as readonly Described[]) : [answer as Described];
  const content = all.flatMap(({ schema, mediaType }): [string, JsonObject][] => {
    if (schema) return [["application/json", { schema: lift(schema) }]];
    return mediaType === undefined ? [] : [[mediaType, { schema: { type: "string" } }]];
  });
  return { description: all[0]?.description ?? "", ...(content.length > 0 && { content: Object.fromEntries(content) }) };
}

/** Schemas with a title are written once. */
function liftSchemas(value: JsonValue, components: Map<string, JsonValue>): JsonValue {
  if (Array.isArray(value)) return value.map((item) => liftSchemas(item, components));
  if (!isJsonObject(value)) return value;
  const { title, ...rest } = value;
  const lifted = Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, liftSchemas(part ?? null, components)]));
  if (typeof title !== "string")
    return "title" in value && title !== undefined ? { ...lifted, title: liftSchemas(title, components) } : lifted;
  components.set(title, lifted);
  return { $ref: `#/components/schemas/${title}` };
}
