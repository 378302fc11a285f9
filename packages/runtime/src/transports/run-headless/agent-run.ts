import { defaultMaxRequests } from "../../model/request-ledger.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { sleep } from "../../util/sleep.ts";
import type { InterruptEvent, TurnPhase } from "../atif/lines/trajectory-events.ts";
import { compactHistory } from "./compact-history.ts";
import type { AgentRunConfig, RunPrompt } from "./headless-config.ts";
import { readStream, type StreamEnd, type StreamLimits, waitFor } from "./read-stream.ts";
import type { PromptRun } from "./run-headless.ts";
import { now, type RunOutput, type Stop } from "./run-output.ts";
import { fieldIn, toStreamUsage } from "./runnable-agent.ts";
import { type OpenStep, StreamSteps } from "./stream-step.ts";
import { messageOf } from "../../util/message-of.ts";

declare const OUTRIDER_VERSION: string;

const defaultStreamTimeoutMs = 30_000;
const noOutputRetries = 3;
const noOutputDelayMs = 250;
/** An answer shorter than this is not worth a request. */
const leastOutputTokens = 512;
/** How long an agent may take to stop by itself after an abort before it is left behind. */
const abortGraceMs = 1000;

/**
 * Prompts to an agent that is not ours. It asks its model and runs its tools inside `stream`, where nothing here can look or decide: this only
 * calls it again while it asks for that, and reads what it says.
 */
export class AgentRun implements PromptRun {
  readonly #config: AgentRunConfig;
  readonly #output: RunOutput;
  readonly #streams = new AbortController();
  readonly #limits: StreamLimits;
  readonly #onAbort: () => void;
  #graceTimer: NodeJS.Timeout | undefined;
  #steps = 0;
  #iterations = 0;
  #requests = 0;
  said = "";
  /** The caller's, and what `onBeforeTurn` gives. */
  readonly #signals = new Set<AbortSignal>();

  constructor(config: AgentRunConfig, output: RunOutput) {
    this.#config = config;
    this.#output = output;
    const giveUp = new AbortController();
    this.#limits = { timeoutMs: config.streamTimeoutMs ?? defaultStreamTimeoutMs, signal: giveUp.signal };
    this.#onAbort = () => {
      this.#streams.abort();
      this.#graceTimer ??= setTimeout(() => giveUp.abort(), abortGraceMs);
    };
    this.#listenTo(config.abortSignal);
  }

  begin(): void {
    const { sessionId, modelId, agentName = "outrider" } = this.#config;
    const agent = { name: agentName, version: OUTRIDER_VERSION, model_name: modelId };
    this.#output.emit({ type: "metadata", timestamp: now(), session_id: sessionId, agent });
  }

  close(): void {
    clearTimeout(this.#graceTimer);
    for (const signal of this.#signals) signal.removeEventListener("abort", this.#onAbort);
    this.#streams.abort(); // an agent that was left behind is told
  }

  get isAborted(): boolean {
    return [...this.#signals].some((signal) => signal.aborted);
  }

  #listenTo(signal: AbortSignal | undefined): void {
    if (!signal || this.#signals.has(signal)) return;
    this.#signals.add(signal);
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Calls the agent until it makes no more tool calls; undefined when it came to that. */
  async answer(prompt: RunPrompt | undefined): Promise<Stop | undefined> {
    if (prompt) this.#addPrompt(prompt);
    const { maxIterations, shouldContinue = asksForMore } = this.#config;
    for (let phase: TurnPhase = "new-turn"; ; phase = "intermediate-step") {
      if (this.isAborted) return await this.interrupt();
      if (maxIterations !== undefined && ++this.#iterations > maxIterations) {
        this.#output.error(`Max iterations (${maxIterations}) reached`, "MAX_ITERATIONS");
        return { type: "stopped", limit: "max-turns", text: this.said };
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
      const steps = new StreamSteps(this.#config.modelId, (event) => this.#output.emit(event), now);
      const before = this.#steps;
      if (this.#requests >= this.#maxRequests) return this.#stopAtCeiling();
      this.#requests++;
      try {
        const ended = await this.#stream(phase, steps);
        for (const id of steps.takeBroken()) this.#output.error(`The input of the tool call ${id} was no JSON`, "TOOL_FAILURE");
        if (this.#steps > before || !isSilent(ended)) return ended;
        if (retries >= noOutputRetries) return this.#fail(noOutput());
      } catch (error) {
        if (this.isAborted) return await this.interrupt(steps);
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
    this.#output.error(reason, "MAX_REQUESTS");
    return { type: "stopped", limit: "max-requests", text: this.said, reason };
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
    const result = await waitFor(Promise.resolve(this.#config.agent.stream(options)), this.#limits);
    this.#output.emit({ type: "turn-start", timestamp: now(), phase });
    await onStreamStart?.(phase);
    return await readStream(result, steps, { limits: this.#limits, onStep: (step) => this.#addStep(step) });
  }

  /** True when the history was made smaller. What was counted while it changed counts for nothing. */
  async #measure(messages: Parameters<NonNullable<AgentRunConfig["measureUsage"]>>[0]): Promise<boolean> {
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
      { history, isDisabled, breaker, callbacks, emit: (event) => this.#output.emit(event), now: Date.now },
      reason,
    );
  }

  async #turnCompleted({ usage, finishReason }: StreamEnd): Promise<void> {
    const { onTurnComplete, messageHistory: history } = this.#config;
    if (onTurnComplete)
      await onTurnComplete(history.getAll?.() ?? (await history.getMessagesForLLM()), usage, history.snapshot?.(), finishReason);
  }

  #addPrompt({ content, eventContent: message = content, originalContent }: RunPrompt): void {
    this.#config.messageHistory.addUserMessage(content, originalContent);
    this.#output.emit({ type: "step", step_id: ++this.#steps, timestamp: now(), source: "user", message });
  }

  #addStep(step: OpenStep | undefined): void {
    if (!step) return;
    if (step.message !== "") this.said = step.message;
    const { message, ...rest } = step;
    this.#output.emit({ type: "step", step_id: ++this.#steps, timestamp: now(), source: "agent", message, ...rest });
  }

  async interrupt(steps?: StreamSteps): Promise<Stop> {
    this.#addStep(steps?.take(undefined)); // it was seen
    const event: InterruptEvent = { type: "interrupt", timestamp: now(), reason: "caller-abort" };
    this.#output.emit(event);
    await this.#config.onInterrupt?.(event);
    return { type: "cancelled", cause: "abort", text: this.said };
  }

  #fail(error: unknown): Stop {
    return this.#output.fail(error, { text: this.said, code: isOverflow(error) ? "CONTEXT_OVERFLOW" : undefined });
  }
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
