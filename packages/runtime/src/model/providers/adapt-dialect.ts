import type { JsonObject } from "../../protocol/content.ts";
import type { Dialect } from "../dialect.ts";

/** A dialect whose requests differ a little: in what becomes of the profile's options, or in the finished body. */
export function adaptDialect(
  dialect: Dialect,
  { options, body }: { options?: (options: JsonObject) => JsonObject; body?: (body: JsonObject) => JsonObject },
): Dialect {
  return {
    id: dialect.id,
    nativeSchema: dialect.nativeSchema,
    encode(request) {
      const encoded = dialect.encode(options && request.options ? { ...request, options: options(request.options) } : request);
      return body ? body(encoded) : encoded;
    },
    decoder: (request, provider) => dialect.decoder(request, provider),
  };
}

export function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
