import { type ErrorData, RuntimeError } from "../protocol/errors.ts";
import type { StopLimit } from "../protocol/outcome.ts";
import type { Budget } from "./budget.ts";
import type { ModelEvent, Provider, SessionModel } from "./model.ts";
import { defined } from "../util/defined.ts";

/** Many hours of honest work; nobody's prompt asks for ever. */
const defaultMost = 2_000;
/** What a turn may cause beside itself where turns are limited: summaries, questions of hooks, subagents, tries again. */
const besideEachTurn = 100;

/** The ceiling of a prompt that was given none. A limit of turns lowers it, and is never cut short by it. */
export function defaultMaxRequests(maxTurns: number | undefined): number {
  if (maxTurns === undefined) return defaultMost;
  return Math.max(2 * maxTurns, Math.min(defaultMost, besideEachTurn * (maxTurns + 1)));
}

/** A provider whose every request is in the ledger. What asks models takes only these, so that nothing can ask beside it. */
export type CountedProvider = SessionModel & { readonly ledger: RequestLedger };

/**
 * Counts every request that a prompt causes (turns, summaries, hooks, subagents, tries again), and books what it costs. Asked before each of them: at the
 * ceiling, or with the budget spent, none is made. Tries again count too. A deadline comes as an abort.
 */
export class RequestLedger {
  readonly maxRequests: number;
  /** Of the session: it is not filled up again by the next prompt. */
  readonly budget: Budget | undefined;
  #requests = 0;

  constructor({ maxRequests, budget }: { maxRequests: number; budget?: Budget | undefined }) {
    if (!Number.isSafeInteger(maxRequests) || maxRequests < 1)
      throw new RuntimeError("config", `The ceiling of model requests is a whole number above 0, not ${maxRequests}`);
    this.maxRequests = maxRequests;
    this.budget = budget;
  }

  /** A new prompt, with nothing asked yet. */
  begin(): void {
    this.#requests = 0;
  }

  get requests(): number {
    return this.#requests;
  }

  /** What keeps the next request from being made. */
  reached(): Extract<StopLimit, "max-budget" | "max-requests"> | undefined {
    if (this.budget?.exceeded()) return "max-budget";
    return this.#requests >= this.maxRequests ? "max-requests" : undefined;
  }

  count(provider: Provider): CountedProvider {
    const { name, model, contextWindow, contextWindowIsGuess, nativeSchema } = provider; // a class may have them as getters
    return {
      name,
      model,
      contextWindow,
      ...defined({ contextWindowIsGuess }),
      nativeSchema,
      ledger: this,
      stream: (request, options) => this.#watch(provider, request, options),
    };
  }

  /** By hand: an async generator costs several promises per event. */
  #watch(provider: Provider, ...[request, options]: Parameters<SessionModel["stream"]>): AsyncIterableIterator<ModelEvent> {
    options.signal.throwIfAborted();
    this.#admit();
    const source = provider.stream(request, options)[Symbol.asyncIterator]();
    let requestedModel = request.model;
    const see = async (event: ModelEvent): Promise<void> => {
      if (event.type === "finished") {
        checkAnswer(event.message, provider.name);
        this.budget?.spend(event.message, requestedModel);
      }
      if (event.type === "fallback.used") requestedModel = event.to;
      if (event.type !== "retry.scheduled" && event.type !== "fallback.used") return;
      try {
        this.#admit(event.error);
      } catch (error) {
        await source.return?.();
        throw error;
      }
    };
    return {
      next: () => source.next().then((item) => (item.done || isDelta(item.value) ? item : see(item.value).then(() => item))),
      return: async () => {
        await source.return?.();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** `failure` is why another request is wanted. */
  #admit(failure?: ErrorData): void {
    const limit = this.reached();
    if (limit === "max-budget") throw new RuntimeError("limit-reached", "The budget of the session is spent");
    if (limit)
      throw new RuntimeError("limit-reached", `One prompt may cause ${this.maxRequests} model requests; they are used up`, {
        ...(failure && { hint: `${countOf(this.maxRequests)}, and the last failed: ${wordsOf(failure)}` }),
      });
    this.#requests++;
  }
}

function countOf(requests: number): string {
  return requests === 1 ? "one request was made" : `${requests} requests were made`;
}

function wordsOf({ message, hint }: ErrorData): string {
  return hint === undefined ? message : `${message}. ${hint}`;
}

/** Providers may be a program's own: what their answers lack would show much later, as a mistake of ours. */
function checkAnswer(message: unknown, name: string): void {
  const { content, finish, model, usage } = Object(message);
  const missing = Object.entries({ content, finish, model, usage }).find(([, value]) => !value);
  if (!missing && Number.isFinite(usage.inputTokens) && Number.isFinite(usage.outputTokens)) return;
  const field = missing ? missing[0] : "usage.inputTokens or usage.outputTokens";
  throw new RuntimeError("provider-protocol", `The provider ${name} ended its answer without ${field}`, {
    hint: 'An answer ends with { type: "finished", message: { role, content, model, finish, usage } }',
  });
}

function isDelta({ type }: ModelEvent): boolean {
  return type === "text.delta" || type === "reasoning.delta" || type === "tool-input.delta";
}
