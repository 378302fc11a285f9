import type { ToolDefinition } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { ModelEvent, ModelRequest, Provider } from "../model.ts";
import { isPlainRequest } from "./plain-request.ts";
import { toSendableName } from "./tool-names.ts";
import { defined } from "../../util/defined.ts";

type Options = { readonly signal: AbortSignal };

/**
 * The border of the conversation on its way out: whatever it holds, the provider gets a request that it can take. Text is well-formed,
 * images are what they say, schemas and names are of the kind every provider knows; answers come back in our own names.
 * A request that needs none of this goes through untouched. A tool whose schema is refused all the same is offered without one.
 */
export function sendableProvider(provider: Provider): Provider {
  const openTools = new OpenTools();
  return {
    name: provider.name,
    model: provider.model,
    contextWindow: provider.contextWindow,
    ...defined({ contextWindowIsGuess: provider.contextWindowIsGuess }),
    nativeSchema: provider.nativeSchema,
    stream: (request, options) => untilTaken(openTools, () => open(provider, openTools.applyTo(request), options)),
  };
}

function open(provider: Provider, request: ModelRequest, options: Options): AsyncIterator<ModelEvent> {
  const events = isPlainRequest(request) ? provider.stream(request, options) : streamMended(provider, request, options);
  return events[Symbol.asyncIterator]();
}

async function* streamMended(provider: Provider, request: ModelRequest, options: Options): AsyncGenerator<ModelEvent> {
  const { mendRequest } = await import("./mend-request.ts");
  const { request: mended, restore } = mendRequest(request);
  const events = provider.stream(mended, options);
  if (!restore) return yield* events;
  for await (const event of events) yield restore(event);
}

/** Asks again, once, after a refusal that names a tool. By hand: an async generator costs several promises per event. */
function untilTaken(openTools: OpenTools, ask: () => AsyncIterator<ModelEvent>): AsyncIterableIterator<ModelEvent> {
  let source = ask();
  let mayAskAgain = true;
  const askAgain = (thrown: unknown): IteratorResult<ModelEvent> => {
    const names = thrown instanceof RuntimeError ? (thrown.refused?.tools ?? []) : [];
    if (!mayAskAgain || !(thrown instanceof RuntimeError) || !openTools.add(names)) throw thrown;
    mayAskAgain = false;
    source = ask();
    return { done: false, value: { type: "retry.scheduled", attempt: 1, maxRetries: 1, delayMs: 0, error: thrown.toJSON() } };
  };
  const see = (item: IteratorResult<ModelEvent>): IteratorResult<ModelEvent> => {
    if (item.done || (item.value.type !== "retry.scheduled" && item.value.type !== "fallback.used")) mayAskAgain = false; // it was taken
    return item;
  };
  return {
    next: () => (mayAskAgain ? source.next().then(see, askAgain) : source.next()),
    return: async () => {
      await source.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Tools whose schema the provider has refused in this session: they take any input, and what does not fit is refused when they are called. */
class OpenTools {
  readonly #names = new Set<string>();
  readonly #made = new WeakMap<ToolDefinition, ToolDefinition>();

  /** False when there is nothing new among these. */
  add(names: readonly string[]): boolean {
    const before = this.#names.size;
    for (const name of names) this.#names.add(name);
    return this.#names.size > before;
  }

  applyTo(request: ModelRequest): ModelRequest {
    if (this.#names.size === 0) return request;
    return {
      ...request,
      tools: request.tools.map((tool) => (this.#names.has(toSendableName(tool.name)) ? this.#opened(tool) : tool)),
    };
  }

  #opened(tool: ToolDefinition): ToolDefinition {
    const before = this.#made.get(tool);
    if (before) return before;
    const description = `${tool.description}\nThe schema of its input cannot be shown here; input that does not fit is refused with the reason.`;
    const made: ToolDefinition = { ...tool, description, inputSchema: { type: "object", properties: {} } };
    this.#made.set(tool, made);
    return made;
  }
}
