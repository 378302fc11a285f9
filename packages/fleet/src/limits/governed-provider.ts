import {
  type CatalogOverride,
  type ModelEvent,
  type ModelRequest,
  type Provider,
  RuntimeError,
  type Usage,
} from "@outrider/runtime";
import type { loadCallPrice } from "@outrider/runtime/atif";
import type { Governor, RequestEnd, RequestFacts } from "./governor.ts";
import { parseRateHeaders } from "./rate-headers.ts";

/** What an answer cost in US dollars; null when nobody knows its price. */
export type PriceOf = Awaited<ReturnType<typeof loadCallPrice>>;

/** What models cost, and the user's own facts about them, by which results are written. */
export type Prices = { readonly priceOf: PriceOf; readonly catalogOverride: CatalogOverride | undefined };

export type Governing = Prices & {
  readonly governor: Governor;
  /** A budget cannot be held for a model whose price nobody knows. */
  readonly needsPrice: boolean;
};

/** The same provider, which asks before each request and tells what became of it. */
export function governedProvider(provider: Provider, governing: Governing): Provider {
  const { name, model, contextWindow, contextWindowIsGuess, nativeSchema } = provider; // a class may have them as getters
  return {
    name,
    model,
    contextWindow,
    nativeSchema,
    ...(contextWindowIsGuess !== undefined && { contextWindowIsGuess }),
    ...(provider.fitsSchema && { fitsSchema: (schema) => provider.fitsSchema?.(schema) ?? true }),
    ...(provider.close && { close: () => provider.close?.() }),
    stream: (request, options) => ask(provider, governing, request, options.signal),
  };
}

async function* ask(
  provider: Provider,
  { governor, priceOf, needsPrice }: Governing,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const facts: RequestFacts = { provider: provider.name, model: request.model, tokens: expectedTokens(request) };
  if (needsPrice) needPrice(priceOf, facts);
  await governor.admit(facts, signal);
  let isTold = false;
  const tell = async (end: Omit<RequestEnd, keyof RequestFacts>): Promise<void> => {
    isTold = true;
    await governor.ended({ ...facts, ...end }, signal);
  };
  try {
    for await (const event of provider.stream(request, { signal })) {
      if (event.type === "retry.scheduled" && event.error.code === "provider-rate-limit")
        governor.throttled(provider.name, event.delayMs);
      if (event.type === "finished") {
        const { usage, model } = event.message;
        const costUsd = price(priceOf, { ...facts, served: { provider: model.provider, model: model.id }, usage });
        await tell({ usage, costUsd, told: event.rateLimits && parseRateHeaders(event.rateLimits, Date.now()) });
      }
      yield event;
    }
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "provider-rate-limit")
      governor.throttled(provider.name, error.retryAfterMs ?? 5_000);
    throw error;
  } finally {
    if (!isTold) await tell({ usage: undefined, costUsd: 0 });
  }
}

/** A budget cannot be held for a model whose price nobody knows. */
export function needPrice(priceOf: PriceOf, asked: Named): void {
  if (price(priceOf, { ...asked, served: asked, usage: oneToken }) !== null) return;
  throw new RuntimeError("config", `The price of ${asked.provider}/${asked.model} is not known: a budget cannot be held`, {
    hint: "Add the price to models.json, or leave --max-budget and --task-budget out",
  });
}

const oneToken: Usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

type Named = Pick<RequestFacts, "provider" | "model">;
type Priced = Named & { readonly served: Named; readonly usage: Usage };

function price(priceOf: PriceOf, { served, model, usage }: Priced): number | null {
  const message = {
    role: "assistant",
    content: [],
    finish: "stop",
    usage,
    model: { provider: served.provider, id: served.model },
  };
  const call = {
    type: "message.ended",
    message,
    requestedModel: model,
    at: new Date().toISOString(),
    messageId: "",
    durationMs: 0,
    seq: 0,
    sessionId: "",
  };
  return priceOf(call as unknown as Parameters<PriceOf>[0]); // prices look at models, usage and time alone
}

/** Four characters are about a token; pictures are not counted. What is asked for as an answer is a guess, corrected afterwards. */
function expectedTokens({ system, messages, tools }: ModelRequest): number {
  const characters = system.length + JSON.stringify(messages).length + JSON.stringify(tools).length;
  return Math.ceil(characters / 4) + 500;
}
