import { addUsage, noUsage } from "../../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { StepLines } from "../atif/lines/step-lines.ts";
import type { TrajectoryEvent } from "../atif/lines/trajectory-events.ts";
import type { CallPrice } from "../atif/write/call-price.ts";
import type { RunPrompt, SessionRunConfig } from "./headless-config.ts";
import type { PromptRun } from "./run-headless.ts";
import type { RunOutput, Stop } from "./run-output.ts";
import type { ModelMessage } from "./runnable-agent.ts";

/** Prompts to a session. Its events are the lines, as in `--output-format atif-jsonl`. */
export class SessionRun implements PromptRun {
  readonly #config: SessionRunConfig;
  readonly #output: RunOutput;
  readonly #lines: StepLines;
  readonly #stop: () => void;
  /** How often the model was asked. */
  #iterations = 0;
  #usage = noUsage;
  /** What the caller's `emitEvent` threw. */
  #thrown: { readonly error: unknown } | undefined;
  said = "";

  constructor(config: SessionRunConfig, { output, priceOf }: { readonly output: RunOutput; readonly priceOf: CallPrice }) {
    this.#config = config;
    this.#output = output;
    this.#lines = new StepLines({ sessionId: config.sessionId, modelName: config.modelId, agentName: config.agentName, priceOf });
    this.#stop = () => config.agent.abort();
  }

  begin(): void {
    this.#emit(this.#lines.begin());
    this.#config.abortSignal?.addEventListener("abort", this.#stop, { once: true });
  }

  close(): void {
    this.#config.abortSignal?.removeEventListener("abort", this.#stop);
  }

  get isAborted(): boolean {
    return this.#config.abortSignal?.aborted ?? false;
  }

  async interrupt(): Promise<Stop> {
    return await this.#end({ type: "cancelled", cause: "abort", text: this.said });
  }

  async answer(given: RunPrompt | undefined): Promise<Stop | undefined> {
    const { maxIterations, messageHistory: history, onTurnComplete, agent: session } = this.#config;
    if (this.isAborted) return await this.interrupt();
    const isSpent = (): boolean => maxIterations !== undefined && this.#iterations >= maxIterations;
    const reason = `Max iterations (${maxIterations}) reached`;
    if (isSpent()) return await this.#end({ type: "stopped", limit: "max-turns", text: this.said, reason });
    const outcome = await this.#submit(given);
    if (this.#thrown) throw this.#thrown.error;
    if (outcome.text !== "") this.said = outcome.text;
    if (outcome.type === "stopped" && outcome.limit === "max-turns" && isSpent()) return await this.#end({ ...outcome, reason });
    if (outcome.type !== "completed") return await this.#end(outcome);
    this.#emit(this.#lines.end(outcome));
    history?.addModelMessages([{ role: "assistant", content: outcome.text }]);
    await onTurnComplete?.(history?.getAll?.() ?? session.getMessages(), this.#usage, history?.snapshot?.(), "stop");
    return undefined;
  }

  async #submit(given: RunPrompt | undefined): Promise<Outcome<unknown>> {
    const { agent: session, messageHistory: history, maxIterations } = this.#config;
    const maxTurns = maxIterations === undefined ? undefined : maxIterations - this.#iterations;
    this.#usage = noUsage;
    try {
      const { content, eventContent, originalContent }: RunPrompt = given ?? {
        content: lastPrompt((await history?.getMessagesForLLM()) ?? []),
      };
      if (given) history?.addUserMessage(content, originalContent);
      await session.open(); // what makes a session impossible is told before anything starts
      if (session.isExecuting()) throw new RuntimeError("busy", "The session is at work for somebody else", { retryable: true });
      const events = session.events({ tasks: false, whenFull: "wait", capacity: 256 });
      const displayInput = eventContent ?? (originalContent === undefined ? undefined : content);
      const turn = session.submit(content, { displayInput, rawInput: originalContent, maxTurns });
      turn.catch(() => {}); // looked at below; what keeps its events from being read comes first
      await this.#tell(events);
      return await turn;
    } catch (error) {
      return { type: "failed", error: toRuntimeError(error).toJSON(), text: this.said };
    }
  }

  /** Until the turn's last event. */
  async #tell(events: AsyncIterable<AgentEvent>): Promise<void> {
    for await (const event of events) {
      if (event.type === "message.ended") this.#usage = addUsage(this.#usage, event.message.usage);
      this.#tellLines(event);
      if (event.type !== "turn.ended") continue;
      this.#iterations += event.modelCalls;
      return;
    }
  }

  /** A caller that throws ends the turn, and then the run. */
  #tellLines(event: AgentEvent): void {
    if (this.#thrown) return;
    try {
      this.#emit(this.#lines.apply(event));
    } catch (error) {
      this.#thrown = { error };
      this.#config.agent.abort();
    }
  }

  async #end(outcome: Stop): Promise<Stop> {
    for (const line of this.#lines.end(outcome)) {
      this.#output.emit(line);
      if (line.type === "interrupt") await this.#config.onInterrupt?.(line);
    }
    return outcome;
  }

  #emit(lines: readonly TrajectoryEvent[]): void {
    for (const line of lines) this.#output.emit(line);
  }
}

function lastPrompt(messages: readonly ModelMessage[]): string {
  const content = messages.findLast((message) => message.role === "user")?.content;
  if (typeof content === "string") return content;
  const parts = Array.isArray(content)
    ? content.flatMap((part: { text?: unknown }) => (typeof part.text === "string" ? [part.text] : []))
    : [];
  if (parts.length === 0)
    throw new RuntimeError("usage", "There is no prompt: give initialUserMessage, or a history that ends with one");
  return parts.join("");
}
