import type { JsonObject } from "../../protocol/content.ts";
import type { Dialect } from "../dialect.ts";
import type { ModelRequest } from "../model.ts";

/** A dialect whose requests differ a little: in what becomes of the profile's options, or in the finished body. */
export function adaptDialect(
  dialect: Dialect,
  {
    options,
    body,
  }: { options?: (options: JsonObject) => JsonObject; body?: (body: JsonObject, request: ModelRequest) => JsonObject },
): Dialect {
  return {
    ...dialect,
    encode(request, tell) {
      const own = options && request.options ? { ...request, options: options(request.options) } : request;
      const encoded = dialect.encode(own, tell);
      return body ? body(encoded, request) : encoded;
    },
    decoder: (request, provider) => dialect.decoder(request, provider),
  };
}

export function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** Anthropic's beta features, as the hosts take them that have no header for them. */
export function withBetas(body: JsonObject, betas: readonly string[]): JsonObject {
  if (betas.length === 0) return body;
  const given = Array.isArray(body["anthropic_beta"]) ? body["anthropic_beta"] : [];
  return { ...body, anthropic_beta: [...new Set([...given, ...betas])] };
}
