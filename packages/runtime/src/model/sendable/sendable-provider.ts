import type { ModelEvent, ModelRequest, Provider } from "../model.ts";
import { isPlainRequest } from "./plain-request.ts";

/**
 * The border of the conversation on its way out: whatever it holds, the provider gets a request that it can take. Text is well-formed,
 * images are what they say, schemas and names are of the kind every provider knows; answers come back in our own names.
 * A request that needs none of this goes through untouched.
 */
export function sendableProvider(provider: Provider): Provider {
  return {
    name: provider.name,
    model: provider.model,
    contextWindow: provider.contextWindow,
    ...(provider.contextWindowIsGuess !== undefined && { contextWindowIsGuess: provider.contextWindowIsGuess }),
    nativeSchema: provider.nativeSchema,
    stream: (request, options) =>
      isPlainRequest(request) ? provider.stream(request, options) : streamMended(provider, request, options),
  };
}

async function* streamMended(
  provider: Provider,
  request: ModelRequest,
  options: { signal: AbortSignal },
): AsyncGenerator<ModelEvent> {
  const { mendRequest } = await import("./mend-request.ts");
  const { request: mended, restore } = mendRequest(request);
  const events = provider.stream(mended, options);
  if (!restore) return yield* events;
  for await (const event of events) yield restore(event);
}
