import type { ToolDefinition } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { ModelEvent, ModelRequest, Provider } from "../model.ts";
import type { ModelRecord } from "../capabilities/record.ts";
import { schemaInWords } from "../dialects/schema-in-words.ts";
import { isPlainRequest } from "./plain-request.ts";
import { toSendableName } from "./tool-names.ts";
import { defined } from "../../util/defined.ts";

type Options = { readonly signal: AbortSignal };

/**
 * The border of the conversation on its way out: whatever it holds, the provider gets a request that it can take. Text is well-formed,
 * images are what they say, schemas and names are of the kind every provider knows; answers come back in our own names.
 * A request that needs none of this goes through untouched. A tool whose schema is refused all the same is offered without one, and a
 * field that is refused is not sent again. `known` says what the user knows better about a model than the built-in record.
 */
export function sendableProvider(provider: Provider, known?: (model: string) => Partial<ModelRecord> | undefined): Provider {
  const learnt = new Learnt(provider.name);
  const toSend = (request: ModelRequest): ModelRequest => {
    const capabilities = known?.(request.model);
    return learnt.applyTo(capabilities ? { ...request, capabilities } : request);
  };
  return {
    name: provider.name,
    model: provider.model,
    contextWindow: provider.contextWindow,
    ...defined({ contextWindowIsGuess: provider.contextWindowIsGuess }),
    nativeSchema: provider.nativeSchema,
    stream: (request, options) => untilTaken(learnt.of(request.model), () => open(provider, toSend(request), options)),
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

/** What one request may cost in requests that are made again without what was refused. */
const mostAgain = 3;

/** Asks again after a refusal that names a tool or a field. By hand: an async generator costs several promises per event. */
function untilTaken(learnt: Lessons, ask: () => AsyncIterator<ModelEvent>): AsyncIterableIterator<ModelEvent> {
  let source = ask();
  let left = mostAgain;
  const waiting: ModelEvent[] = [];
  const askAgain = (thrown: unknown): IteratorResult<ModelEvent> => {
    const note = thrown instanceof RuntimeError ? learnt.from(thrown) : undefined;
    if (note === undefined || !(thrown instanceof RuntimeError)) throw thrown;
    left--;
    source = ask();
    if (note) waiting.push({ type: "warning.raised", message: note });
    return { done: false, value: { type: "retry.scheduled", attempt: 1, maxRetries: 1, delayMs: 0, error: thrown.toJSON() } };
  };
  const see = (item: IteratorResult<ModelEvent>): IteratorResult<ModelEvent> | Promise<IteratorResult<ModelEvent>> => {
    if (!item.done && item.value.type === "warning.raised") return learnt.isNew(item.value.message) ? item : next();
    if (item.done || (item.value.type !== "retry.scheduled" && item.value.type !== "fallback.used")) left = 0; // it was taken
    return item;
  };
  const next = (): Promise<IteratorResult<ModelEvent>> => {
    const told = waiting.shift();
    if (told) return Promise.resolve({ done: false, value: told });
    return left > 0 ? source.next().then(see, askAgain) : source.next();
  };
  return {
    next,
    return: async () => {
      await source.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** What is learnt from refusals of requests for one model. */
interface Lessons {
  /** What to tell of a refusal that can be mended, empty for nothing; undefined where it cannot be. */
  from(error: RuntimeError): string | undefined;
  isNew(note: string): boolean;
}

/** What the session has learnt about its provider: fields and schemas that it refuses, and what was told of that. */
class Learnt {
  readonly #provider: string;
  readonly #tools = new OpenTools();
  /** By model: another one may take them. */
  readonly #fields = new Map<string, Set<string>>();
  readonly #told = new Set<string>();

  constructor(provider: string) {
    this.#provider = provider;
  }

  applyTo(request: ModelRequest): ModelRequest {
    const fields = this.#fields.get(request.model);
    const opened = this.#tools.applyTo(request);
    return fields ? withoutSchemaField({ ...opened, omit: [...fields] }) : opened;
  }

  of(model: string): Lessons {
    return { from: (error) => this.#from(error, model), isNew: (note) => this.#isNew(note) };
  }

  #from({ refused, message }: RuntimeError, model: string): string | undefined {
    if (refused?.field === undefined) return this.#tools.add(refused?.tools ?? []) ? "" : undefined;
    const fields = this.#fields.get(model) ?? new Set<string>();
    this.#fields.set(model, fields);
    if (fields.has(refused.field)) return undefined;
    fields.add(refused.field);
    return `${this.#provider} refuses ${refused.field} for ${model}: it is asked without, for the rest of the session (${message})`;
  }

  #isNew(note: string): boolean {
    const isNew = !this.#told.has(note);
    this.#told.add(note);
    return isNew;
  }
}

/** A schema that the provider does not take is told to the model in words. */
function withoutSchemaField(request: ModelRequest): ModelRequest {
  const { outputSchema, ...rest } = request;
  if (!outputSchema || !request.omit?.some((field) => /format|schema|^text$|^output_config$/i.test(field))) return request;
  return { ...rest, system: `${request.system}\n\n${schemaInWords(outputSchema)}` };
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
