import { defined } from "../util/defined.ts";
import { clearResults, compactMessages, promptAfter, type Transcript } from "../journal/transcript.ts";
import type { ModelRequest } from "../model/model.ts";
import type { Message } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent, CompactionResult, CompactionTrigger } from "../protocol/events.ts";
import { chooseCut } from "./choose-cut.ts";
import { planClearing } from "./clear-results.ts";
import { CompactionBreaker } from "./compaction-breaker.ts";
import { checkThreshold, type CompactionSettings, type ContextLimits, limitsOf } from "./compaction-limits.ts";
import { type CompactionHooks, isHopeless, type RunCompactionDeps, runCompaction } from "./run-compaction.ts";
import type { Overflow } from "./fit.ts";
import { TokenCount } from "./token-count.ts";

export type CompactorDeps = Omit<RunCompactionDeps, "emit" | "signal" | "request" | "hooks"> & {
  readonly request: Omit<ModelRequest, "messages">;
  readonly settings: CompactionSettings;
  readonly contextWindow: () => Promise<number>;
  readonly hooks: ((turn: Pick<RunCompactionDeps, "emit" | "signal">) => CompactionHooks | undefined) | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** What one turn brings with it. */
export type FittingDeps = Pick<RunCompactionDeps, "emit" | "signal"> & {
  readonly transcript: Pick<Transcript, "prompt" | "measuredFrom" | "hasSummary">;
};

/** How often room may be made for one prompt: so often, and once more for every so many requests since the first time. */
const allowedAtOnce = 10;
const requestsPerCompaction = 2;
const maxWithoutGain = 3;
/** Clearing alone is enough when it leaves this share of the limit; more would need a summary soon after. */
const enoughAfterClearing = 0.7;

/** Keeps a session's context within its window. One per session: failures are remembered from turn to turn. */
export class Compactor {
  readonly #deps: CompactorDeps;
  readonly #breaker: CompactionBreaker;
  #threshold: number | false;

  constructor(deps: CompactorDeps) {
    this.#threshold = checkThreshold(deps.settings.threshold);
    this.#deps = deps;
    this.#breaker = new CompactionBreaker(deps.now);
  }

  /** Stored events of a resumed session: one that kept failing does not start anew. */
  remember(event: AgentEvent): void {
    if (event.type !== "compaction.ended") return;
    if (event.result.type === "failed") this.#breaker.failed(Date.parse(event.at));
    else if (event.result.type === "compacted") this.#breaker.succeeded();
  }

  get threshold(): number | false {
    return this.#threshold;
  }

  /** From the next turn on. */
  setThreshold(threshold: number | false): void {
    this.#threshold = checkThreshold(threshold);
  }

  /** For one turn, or for one compaction somebody asked for. */
  fit(turn: FittingDeps): ContextFit {
    const settings = { ...this.#deps.settings, threshold: this.#threshold };
    return new ContextFit({ ...this.#deps, ...turn, settings, hooks: this.#deps.hooks?.(turn), breaker: this.#breaker });
  }
}

type FitDeps = Omit<CompactorDeps, "hooks"> &
  FittingDeps & { readonly hooks: CompactionHooks | undefined; readonly breaker: CompactionBreaker };

/** Makes room in the messages of one turn, in place: what is recorded and what is sent change together. */
export class ContextFit {
  readonly #deps: FitDeps;
  readonly #count: TokenCount;
  #prompt: number | undefined;
  #hasSummary: boolean;
  #compactions = 0;
  #withoutGain = 0;
  /** Tokens before the last compaction, until an answer shows what it has gained. */
  #unproved: { readonly tokens: number | undefined; readonly estimated: number } | undefined;
  #requests = 0;

  constructor(deps: FitDeps) {
    this.#deps = deps;
    this.#count = new TokenCount(deps.request, deps.transcript.measuredFrom);
    this.#prompt = deps.transcript.prompt;
    this.#hasSummary = deps.transcript.hasSummary;
  }

  /** Before each request. Throws `context-overflow` when compaction has been tried often enough and nothing is gained any more. */
  async makeRoom(messages: Message[]): Promise<"ready" | "changed" | "limit-reached"> {
    this.#requests++;
    if (this.#deps.settings.threshold === false) return "ready";
    const limits = await this.#limits();
    this.#proveGain(messages, limits);
    let made: "ready" | "changed" = "ready";
    while (this.#count.used(messages) >= limits.limit) {
      if (this.#clear(messages, limits)) {
        made = "changed";
        continue;
      }
      if (this.#isPointless(messages, limits)) return made;
      const used = this.#count.used(messages);
      if (this.#withoutGain >= maxWithoutGain) {
        if (used >= limits.hard) throw this.#overflow(messages, limits);
        return made;
      }
      // Below, the provider has the last word: our count is an estimate, and a request that might fit is worth a try.
      if (!this.#mayCompact() || this.#deps.breaker.isOpen()) return made;
      const result = await this.#compact(messages, { trigger: "auto", limits, force: used >= limits.hard });
      if (result?.type === "failed" && result.error.code === "limit-reached") return "limit-reached";
      if (result?.type !== "compacted") return made;
      made = "changed";
    }
    return made;
  }

  /** After a provider refused a request as too long. Once per request: throws when there is nothing more to be done. */
  async afterOverflow(messages: Message[], { cause, again }: Overflow): Promise<"changed" | "limit-reached"> {
    if (this.#deps.settings.threshold === false) throw cause;
    const limits = await this.#limits();
    if (again || !this.#mayCompact()) throw this.#overflow(messages, limits, cause);
    const result = await this.#compact(messages, { trigger: "overflow", limits, force: true });
    if (result?.type === "failed" && result.error.code === "limit-reached") return "limit-reached";
    if (result?.type !== "compacted") throw this.#overflow(messages, limits, cause);
    return "changed";
  }

  #mayCompact(): boolean {
    return this.#compactions < allowedAtOnce + this.#requests / requestsPerCompaction;
  }

  /** Because somebody asked for it; undefined when there is nothing to summarise. */
  async compact(messages: Message[], instructions?: string): Promise<CompactionResult | undefined> {
    const limits = await this.#limits();
    return await this.#compact(messages, { trigger: "manual", limits, force: true, instructions });
  }

  async #limits(): Promise<ContextLimits> {
    return limitsOf(await this.#deps.contextWindow(), this.#deps.settings.threshold, this.#deps.request);
  }

  /** By our guess alone, what always stays is too much already: summarising the rest would not help. */
  #isPointless(messages: readonly Message[], { limit }: ContextLimits): boolean {
    const { overhead, prompt } = this.#count.parts(messages, this.#promptIn(messages));
    return !this.#count.isProved && overhead + prompt >= limit;
  }

  /** Only the provider's own count says whether the last compaction helped. */
  #proveGain(messages: readonly Message[], limits: ContextLimits): void {
    if (this.#unproved === undefined) return;
    const sent = this.#count.firstMeasured(messages);
    if (sent === undefined) return;
    const { tokens, estimated } = this.#unproved;
    // A guess from before the provider ever counted is compared with a guess.
    const isLess = tokens === undefined ? sent.estimated < estimated * 0.9 : sent.tokens < tokens * 0.9;
    this.#withoutGain = sent.tokens < limits.limit && isLess ? 0 : this.#withoutGain + 1;
    this.#unproved = undefined;
  }

  #clear(messages: Message[], limits: ContextLimits): boolean {
    const preTokens = Math.round(this.#count.used(messages));
    const plan = planClearing(messages, this.#cut(messages, limits, false), this.#deps.factsOf);
    const postTokens = Math.round(preTokens - plan.freedTokens * this.#count.scale);
    if (plan.results.length === 0 || postTokens > limits.limit * enoughAfterClearing) return false;
    const cleared = { through: plan.through, results: plan.results, preTokens, postTokens };
    this.#deps.emit({ type: "context.cleared", ...cleared });
    this.#replace(messages, clearResults(messages, cleared), limits);
    return true;
  }

  async #compact(messages: Message[], how: How): Promise<CompactionResult | undefined> {
    const { limits, trigger } = how;
    const replaced = this.#cut(messages, limits, how.force);
    if (replaced === 0) return undefined;
    const { settings, breaker } = this.#deps;
    const preTokens = this.#count.used(messages);
    const comparable = this.#count.comparable(messages);
    const before = { tokens: this.#count.isProved ? preTokens : undefined, estimated: this.#count.estimated(messages) };
    const { overhead, scale } = this.#count;
    const input = {
      messages,
      replaced,
      prompt: this.#prompt,
      hasSummary: this.#hasSummary,
      trigger,
      preTokens,
      comparable,
      overhead,
      scale,
    };
    if (isHopeless(input)) return undefined;
    const result = await runCompaction(this.#deps, {
      ...input,
      focus: [settings.instructions, how.instructions].filter(Boolean).join("\n\n") || undefined,
      limits,
      fileTokens: settings.fileTokens,
    });
    if (result.type === "failed") breaker.failed();
    if (result.type !== "compacted") return result;
    breaker.succeeded();
    this.#compactions++;
    this.#prompt = promptAfter(this.#prompt, result);
    this.#hasSummary = true;
    this.#replace(messages, compactMessages(messages, result), limits);
    const gained = result.postTokens < limits.limit;
    if (!gained) this.#withoutGain++;
    this.#unproved = gained ? before : undefined;
    return result;
  }

  #cut(messages: readonly Message[], limits: ContextLimits, force: boolean): number {
    const { scale } = this.#count;
    return chooseCut(messages, {
      keepTokens: limits.limit / (force ? 8 : 4) / scale,
      lastTokens: limits.limit / (force ? 4 : 2) / scale,
      prompt: this.#prompt,
      hasSummary: this.#hasSummary,
      force,
    });
  }

  #replace(messages: Message[], next: readonly Message[], limits: ContextLimits): void {
    messages.length = 0;
    for (const message of next) messages.push(message);
    this.#count.restart(messages);
    this.#deps.emit({ type: "context.updated", usedTokens: Math.round(this.#count.used(messages)), maxTokens: limits.window });
  }

  #promptIn(messages: readonly Message[]): Message | undefined {
    return this.#prompt === undefined ? undefined : messages[this.#prompt];
  }

  #overflow(messages: readonly Message[], { window }: ContextLimits, cause?: unknown): RuntimeError {
    const parts = this.#count.parts(messages, this.#promptIn(messages));
    const tried =
      ["", ", though it was summarised for this prompt"][this.#compactions] ??
      `, though it was summarised ${this.#compactions} times for this prompt`;
    return new RuntimeError(
      "context-overflow",
      `The conversation does not fit into the model's context window of ${window} tokens${tried}: system prompt and tools take about ${parts.overhead}, the last prompt ${parts.prompt}, the rest ${parts.rest}`,
      {
        cause,
        hint: `Make ${largest(parts)} smaller, or use a model with a larger window`,
        ...(cause instanceof RuntimeError && defined({ httpStatus: cause.httpStatus, errorType: cause.errorType })),
      },
    );
  }
}

type How = { trigger: CompactionTrigger; limits: ContextLimits; force: boolean; instructions?: string | undefined };

function largest(parts: { overhead: number; prompt: number; rest: number }): string {
  if (parts.overhead >= parts.prompt && parts.overhead >= parts.rest) return "the system prompt or the list of tools";
  return parts.prompt >= parts.rest ? "the prompt" : "the results of single tool calls";
}
