import type { JsonObject } from "../protocol/content.ts";
import { type ErrorCode, toRuntimeError } from "../protocol/errors.ts";
import type { ModelEvent, ModelRequest, Provider } from "./model.ts";

/** Who answers instead; without a provider the same one is asked for the other model. `options` take the place of the first one's. */
export type Fallback = { readonly model: string; readonly provider?: Provider; readonly options?: JsonObject };

/** Only what another model can help with: the request itself was fine. */
const outages: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "provider-overloaded",
  "provider-unavailable",
  "provider-timeout",
  "provider-rate-limit",
]);

/** Asks the fallback when the provider has given up on an outage. Each request starts with the first choice again. */
export function withFallback(provider: Provider, fallback: Fallback): Provider {
  return {
    ...provider,
    async *stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncGenerator<ModelEvent> {
      try {
        yield* provider.stream(request, options);
      } catch (thrown) {
        const error = toRuntimeError(thrown);
        if (options.signal.aborted || !outages.has(error.code)) throw thrown;
        yield { type: "fallback.used", from: request.model, to: fallback.model, error: error.toJSON() };
        yield* (fallback.provider ?? provider).stream(requestFor(request, fallback), options);
      }
    },
  };
}

/** Another provider's options are not ours to send. */
function requestFor({ options, ...request }: ModelRequest, fallback: Fallback): ModelRequest {
  const own = fallback.options ?? (fallback.provider ? undefined : options);
  return { ...request, model: fallback.model, ...(own && { options: own }) };
}
