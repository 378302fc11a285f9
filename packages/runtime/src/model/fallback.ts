import type { JsonObject } from "../protocol/content.ts";
import { type ErrorCode, type ErrorData, toRuntimeError } from "../protocol/errors.ts";
import { checkOptions, checkValue, fields, having, type Kind, needed, text } from "../protocol/kinds.ts";
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

/** So often an overloaded model is asked before another one is. */
const overloadedTries = 3;

const providerKind = having(["stream"], "a provider, such as createAnthropicProvider({ apiKey }) makes");
const kinds: Readonly<Record<keyof Fallback, Kind>> = { model: needed(text), provider: providerKind, options: fields };

/** Asks the fallback when the provider has given up on an outage, is overloaded again and again, or does not have the model. Each request starts with the first choice. */
export function withFallback(provider: Provider, fallback: Fallback): Provider {
  checkValue("provider", provider, providerKind);
  checkOptions("fallback", fallback, kinds);
  return {
    ...provider,
    async *stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncGenerator<ModelEvent> {
      let error: ErrorData | undefined;
      try {
        for await (const event of provider.stream(request, options)) {
          error = event.type === "retry.scheduled" && isEnough(event) ? event.error : undefined;
          if (error) break;
          yield event;
        }
      } catch (thrown) {
        error = toRuntimeError(thrown).toJSON();
        if (options.signal.aborted || !(outages.has(error.code) || isMissing(error))) throw thrown;
      }
      if (!error) return;
      yield { type: "fallback.used", from: request.model, to: fallback.model, error };
      yield* (fallback.provider ?? provider).stream(requestFor(request, fallback), options);
    },
  };
}

/** There is no such model: another one may well be there. */
function isMissing({ code, httpStatus }: ErrorData): boolean {
  return code === "provider-bad-request" && httpStatus === 404;
}

function isEnough({ attempt, error }: ModelEvent & { type: "retry.scheduled" }): boolean {
  return error.code === "provider-overloaded" && attempt >= overloadedTries;
}

/** Another provider's options are not ours to send. */
function requestFor({ options, ...request }: ModelRequest, fallback: Fallback): ModelRequest {
  const own = fallback.options ?? (fallback.provider ? undefined : options);
  return { ...request, model: fallback.model, ...(own && { options: own }) };
}
