import { defaultMaxRequests } from "../../model/request-ledger.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { sleep } from "../../util/sleep.ts";
import { loadCallPrice } from "../atif/write/call-price.ts";
import { compactHistory } from "./compact-history.ts";
import { emitEvent as printEvent } from "../atif/lines/emit-event.ts";
import type { HeadlessConfig } from "./headless-config.ts";
import type { InterruptEvent, TrajectoryEvent, TurnPhase } from "../atif/lines/trajectory-events.ts";
import { readStream, type StreamEnd, type StreamLimits, waitFor } from "./read-stream.ts";
import { fieldIn, type RunnableAgent, toStreamUsage } from "./runnable-agent.ts";
import { toSeedCode } from "../atif/lines/seed-codes.ts";
import { toRunnableAgent } from "./session-agent.ts";
import { StepCollector } from "../atif/lines/step-collector.ts";
import { type OpenStep, StreamSteps } from "./stream-step.ts";

declare const OUTRIDER_VERSION: string;

const defaultStreamTimeoutMs = 30_000;
const defaultTodoReminders = 20;
const noOutputRetries = 3;
const noOutputDelayMs = 250;
/** An answer shorter than this is not worth a request. */
const leastOutputTokens = 512;
/** How long an agent may take to stop by itself after an abort before it is left behind. */
const abortGraceMs = 1000;

/**
 * Runs an agent until it makes no more tool calls and has nothing left to do, and says what happens line by line.
 * Resolves with how it went: a failing provider is an `error` line and a `failed` outcome. Rejects only when the caller's own `emitEvent`,
 * `onTurnComplete`, `onTodoReminder` or `onInterrupt` throws. Whatever happens, the trajectory holds the steps so far.
 */
export async function runHeadless(config: HeadlessConfig): Promise<Outcome> {
  const run = new HeadlessRun(
    config,
    "submit" in config.agent ? toRunnableAgent(config.agent, { priceOf: await loadCallPrice() }) : config.agent,
  );
  try {
    return await run.toEnd();
  } finally {
    run.close();
  }
}

type Stop = Exclude<Outcome, { type: "completed" }>;

class HeadlessRun {
  readonly #config: HeadlessConfig;
  readonly #agent: RunnableAgent;
  readonly #collector = new StepCollector();
  readonly #streams = new AbortController();
  readonly #limits: StreamLimits;
  readonly #onAbort: () => void;
  #graceTimer: NodeJS.Timeout | undefined;
  #steps = 0;
  #iterations = 0;
  #requests = 0;
  #said = "";
  #writeFailure: RuntimeError | undefined;
  /** The caller's, and what `onBeforeTurn` gives. */
  readonly #signals = new Set<AbortSignal>();

  constructor(config: HeadlessConfig, agent: RunnableAgent) {
    this.#config = config;
    this.#agent = agent;
    const giveUp = new AbortController();
    const timeoutMs = config.streamTimeoutMs ?? (agent === config.agent ? defaultStreamTimeoutMs : undefined);
    this.#limits = { timeoutMs, signal: giveUp.signal };
    this.#onAbort = () => {
      this.#streams.abort();
      this.#graceTimer ??= setTimeout(() => giveUp.abort(), abortGraceMs);
    };
    this.#listenTo(config.abortSignal);
  }

  async toEnd(): Promise<Outcome> {
    const config = this.#config;
    const agent = { name: "outrider", version: OUTRIDER_VERSION, model_name: config.modelId };
    this.#emit({ type: "metadata", timestamp: now(), session_id: config.sessionId, agent });
    const first = config.initialUserMessage;
    if (first) this.#addPrompt(first.content, { shown: first.eventContent, typed: first.originalContent });
    const stop = (await this.#answerPrompt()) ?? (await this.#remind());
    if (stop) return stop;
    return this.#writeFailure ? this.#fail(this.#writeFailure) : { type: "completed", text: this.#said };
  }

  close(): void {
    clearTimeout(this.#graceTimer);
    for (const signal of this.#signals) signal.removeEventListener("abort", this.#onAbort);
    this.#streams.abort(); // whoever was left behind is told
  }

  get #isAborted(): boolean {
    return [...this.#signals].some((signal) => signal.aborted);
  }

  #listenTo(signal: AbortSignal | undefined): void {
    if (!signal || this.#signals.has(signal)) return;
    this.#signals.add(signal);
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Calls the agent until it makes no more tool calls; undefined when it came to that. */
  async #answerPrompt(): Promise<Stop | undefined> {
    const { maxIterations, shouldContinue = asksForMore } = this.#config;
    for (let phase: TurnPhase = "new-turn"; ; phase = "intermediate-step") {
      if (this.#isAborted) return await this.#interrupt();
      if (maxIterations !== undefined && ++this.#iterations > maxIterations) {
        this.#emit({
          type: "error",
          timestamp: now(),
          error: `Max iterations (${maxIterations}) reached`,
          code: "MAX_ITERATIONS",
        });
        return { type: "stopped", limit: "max-turns", text: this.#said };
      }
      const ended = await this.#call(phase);
      if ("type" in ended) return ended;
      this.#config.messageHistory.addModelMessages(ended.messages);
      if (ended.usage) this.#config.messageHistory.updateActualUsage?.({ ...ended.usage, updatedAt: new Date() });
      await this.#turnCompleted(ended);
      if (!shouldContinue(ended.finishReason)) return undefined;
    }
  }

  /** One answer, tried again where that can help. */
  async #call(phase: TurnPhase): Promise<StreamEnd | Stop> {
    if (this.#config.messageHistory.needsCompaction?.()) await this.#compact("threshold");
    let compacted = false;
    for (let retries = 0; ; ) {
      const steps = new StreamSteps(this.#config.modelId, (event) => this.#emit(event), now);
      const before = this.#steps;
      if (this.#requests >= this.#maxRequests) return this.#stopAtCeiling();
      this.#requests++;
      try {
        const ended = await this.#stream(phase, steps);
        for (const id of steps.takeBroken())
          this.#emit({
            type: "error",
            timestamp: now(),
            error: `The input of the tool call ${id} was no JSON`,
            code: "TOOL_FAILURE",
          });
        if (this.#steps > before || !isSilent(ended)) return ended;
        if (retries >= noOutputRetries) return this.#fail(noOutput());
      } catch (error) {
        if (this.#isAborted) return await this.#interrupt(steps);
        if (steps.hasCalls) this.#addStep(steps.take(undefined)); // what tools did was done
        if (isOverflow(error) && !compacted && (await this.#compact("overflow"))) {
          compacted = true;
          continue;
        }
        if (!isNoOutput(error) || retries >= noOutputRetries) return this.#fail(isNoOutput(error) ? noOutput() : error);
      }
      retries++;
      await sleep(noOutputDelayMs * retries, this.#streams.signal).catch(() => {}); // an abort is seen by the next call
    }
  }

  get #maxRequests(): number {
    return this.#config.maxRequests ?? defaultMaxRequests(this.#config.maxIterations);
  }

  #stopAtCeiling(): Stop {
    const reason = `The agent was called ${this.#requests} times`;
    this.#emit({ type: "error", timestamp: now(), error: reason, code: "MAX_REQUESTS" });
    return { type: "stopped", limit: "max-requests", text: this.#said, reason };
  }

  async #stream(phase: TurnPhase, steps: StreamSteps): Promise<StreamEnd> {
    const { messageHistory: history, onBeforeTurn, onStreamStart } = this.#config;
    let messages = await history.getMessagesForLLM();
    if (await this.#measure(messages)) messages = await history.getMessagesForLLM();
    const recommended = history.getRecommendedMaxOutputTokens?.(messages);
    const overrides = await onBeforeTurn?.(phase);
    this.#listenTo(overrides?.abortSignal);
    const options = {
      messages,
      ...(recommended !== undefined && { maxOutputTokens: Math.max(leastOutputTokens, recommended) }),
      ...overrides,
      abortSignal: this.#streams.signal,
    };
    const result = await waitFor(Promise.resolve(this.#agent.stream(options)), this.#limits);
    this.#emit({ type: "turn-start", timestamp: now(), phase });
    await onStreamStart?.(phase);
    return await readStream(result, steps, { limits: this.#limits, onStep: (step) => this.#addStep(step) });
  }

  /** True when the history was made smaller. What was counted while it changed counts for nothing. */
  async #measure(messages: Parameters<NonNullable<HeadlessConfig["measureUsage"]>>[0]): Promise<boolean> {
    const { messageHistory: history, measureUsage } = this.#config;
    if (!measureUsage || !history.updateActualUsage) return false;
    const { revision } = history;
    const usage = toStreamUsage(await measureUsage(messages).catch(() => null)); // a probe: without it the run is only less exact
    if (!usage || revision !== history.revision) return false;
    history.updateActualUsage({ ...usage, updatedAt: new Date() });
    return (history.needsCompaction?.() ?? false) && (await this.#compact("threshold"));
  }

  async #compact(reason: "threshold" | "overflow"): Promise<boolean> {
    const {
      messageHistory: history,
      disableCompaction: isDisabled = false,
      circuitBreaker: breaker,
      compactionCallbacks: callbacks,
    } = this.#config;
    return await compactHistory(
      { history, isDisabled, breaker, callbacks, emit: (event) => this.#emit(event), now: Date.now },
      reason,
    );
  }

  async #remind(): Promise<Stop | undefined> {
    const { onTodoReminder, maxTodoReminders = defaultTodoReminders } = this.#config;
    for (let count = 0; onTodoReminder; count++) {
      if (this.#isAborted) return await this.#interrupt();
      const { hasReminder, message } = await onTodoReminder();
      if (!hasReminder || !message) return undefined;
      if (count >= maxTodoReminders) {
        const reason = `Work is left after ${maxTodoReminders} reminders`;
        this.#emit({ type: "error", timestamp: now(), error: reason, code: "MAX_TODO_REMINDERS" });
        return { type: "stopped", limit: "max-turns", text: this.#said, reason };
      }
      this.#addPrompt(message);
      const stop = await this.#answerPrompt();
      if (stop) return stop;
    }
    return undefined;
  }

  async #turnCompleted({ usage, finishReason }: StreamEnd): Promise<void> {
    const { onTurnComplete, messageHistory: history } = this.#config;
    if (onTurnComplete)
      await onTurnComplete(history.getAll?.() ?? (await history.getMessagesForLLM()), usage, history.snapshot?.(), finishReason);
  }

  #addPrompt(content: string, { shown, typed }: { shown?: string | undefined; typed?: string | undefined } = {}): void {
    this.#config.messageHistory.addUserMessage(content, typed);
    this.#emit({ type: "step", step_id: ++this.#steps, timestamp: now(), source: "user", message: shown ?? content });
  }

  #addStep(step: OpenStep | undefined): void {
    if (!step) return;
    if (step.message !== "") this.#said = step.message;
    const { message, ...rest } = step;
    this.#emit({ type: "step", step_id: ++this.#steps, timestamp: now(), source: "agent", message, ...rest });
  }

  async #interrupt(steps?: StreamSteps): Promise<Stop> {
    this.#addStep(steps?.take(undefined)); // it was seen
    const event: InterruptEvent = { type: "interrupt", timestamp: now(), reason: "caller-abort" };
    this.#emit(event);
    await this.#config.onInterrupt?.(event);
    return { type: "cancelled", cause: "abort", text: this.#said };
  }

  #fail(thrown: unknown): Stop {
    const error = toRuntimeError(thrown);
    const code = isOverflow(thrown) ? "CONTEXT_OVERFLOW" : error.code === "internal" ? undefined : toSeedCode(error.code);
    this.#emit({ type: "error", timestamp: now(), error: error.message, ...(code !== undefined && { code }) });
    return { type: "failed", error: error.toJSON(), text: this.#said };
  }

  /** On disk first: whoever reads the line may end the process. */
  #emit(event: TrajectoryEvent): void {
    const { atifOutputPath, emitEvent = printEvent } = this.#config;
    this.#collector.add(event);
    if (atifOutputPath !== undefined && event.type !== "turn-start") this.#write(atifOutputPath);
    emitEvent(event);
  }

  #write(path: string): void {
    try {
      this.#collector.write(path);
      this.#writeFailure = undefined;
    } catch (error) {
      this.#writeFailure = new RuntimeError("storage-failed", `The trajectory ${path} cannot be written: ${messageOf(error)}`);
    }
  }
}

function now(): string {
  return new Date().toISOString();
}

function asksForMore(finishReason: string): boolean {
  return ["tool-calls", "tool_calls", "tool_use", "function_call"].includes(finishReason);
}

/** An answer that said nothing and does not say that it is one. */
function isSilent({ finishReason, messages }: StreamEnd): boolean {
  return messages.length === 0 && !["stop", "length", "content-filter"].includes(finishReason) && !asksForMore(finishReason);
}

function noOutput(): RuntimeError {
  return new RuntimeError("model-empty-answer", "No output generated", { retryable: true });
}

function isNoOutput(error: unknown): boolean {
  return fieldIn(error, "name") === "AI_NoOutputGeneratedError" || messageOf(error).includes("No output generated");
}

const overflowWords =
  /context_length_exceeded|context length exceeded|context window|maximum context|too many tokens|input is too long|prompt is too long|tokens exceeds/i;

/** Providers have no code for it in common. A rate of tokens that is used up is another thing. */
function isOverflow(error: unknown): boolean {
  if (error instanceof RuntimeError) return error.code === "context-overflow";
  return overflowWords.test(messageOf(error)) && !/rate.?limit/i.test(messageOf(error));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
