import type { MaskedRequest, ModelRequest } from "../model/model.ts";
import type { CountedProvider } from "../model/request-ledger.ts";
import { type AssistantMessage, textOf, userText } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { Emit } from "../protocol/events.ts";
import type { Redactor } from "../util/redact.ts";
import { untilAborted } from "../util/until-aborted.ts";
import { withoutTags } from "./history-text.ts";
import { estimateText } from "./token-estimate.ts";
import { minChunkTokens, summarySteps, summarySystem, type SummaryTask } from "./summary-steps.ts";
import { defined } from "../util/defined.ts";

export type SummarizeDeps = {
  readonly provider: CountedProvider;
  readonly request: Pick<ModelRequest, "model" | "maxOutputTokens" | "options">;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly clock: () => number;
  /** Hides secrets, so that what is asked and sent next is what is recorded. */
  readonly redactor: Redactor;
};

/** Our own estimate of a record may be far off; the provider's word counts, and the parts get smaller while that is possible. */
const maxHalvings = 3;

/** Asks the session's own model for a summary, without tools. Rejects when there is none to be had. */
export async function summarize(deps: SummarizeDeps, task: SummaryTask): Promise<string> {
  let { chunkTokens } = task;
  for (let halvings = 0; ; halvings++) {
    try {
      return await runSteps(deps, { ...task, chunkTokens });
    } catch (error) {
      const tooLong = error instanceof RuntimeError && error.code === "context-overflow";
      const half = Math.min(chunkTokens, estimateText(task.pieces.join("\n"))) / 2;
      if (!tooLong || halvings === maxHalvings || half < minChunkTokens) throw error;
      chunkTokens = half;
    }
  }
}

async function runSteps(deps: SummarizeDeps, task: SummaryTask): Promise<string> {
  const steps = summarySteps(task);
  for (let step = steps.next(); ; ) {
    if (step.done) return step.value;
    step = steps.next(await ask(deps, step.value));
  }
}

async function ask(deps: SummarizeDeps, text: string): Promise<string> {
  const { signal } = deps;
  signal.throwIfAborted();
  const startedAt = deps.clock();
  // Made of masked messages, of answers that were masked, and of our own words.
  const request = toSummaryRequest(deps.request, text) as MaskedRequest;
  const answered = await untilAborted(listen(deps, request), signal);
  const { requestedModel } = answered;
  const message = deps.redactor.value(answered.message);
  deps.emit({
    type: "side-call.ended",
    purpose: "compaction",
    message,
    requestedModel,
    durationMs: Math.round(deps.clock() - startedAt),
  });
  if (deps.provider.ledger.reached() === "max-budget")
    throw new RuntimeError("limit-reached", "The budget was spent while the conversation was being summarised");
  return summaryIn(message);
}

/** The request a summary is asked for with; told again from the journal when a session becomes a recording. */
export function toSummaryRequest(request: SummarizeDeps["request"], text: string): ModelRequest {
  const { model, maxOutputTokens, options } = request;
  return {
    model,
    system: summarySystem,
    tools: [],
    messages: [userText(text)],
    ...defined({ maxOutputTokens, options }),
  };
}

async function listen(
  deps: SummarizeDeps,
  request: MaskedRequest,
): Promise<{ message: AssistantMessage; requestedModel: string }> {
  let requestedModel = request.model;
  for await (const event of deps.provider.stream(request, { signal: deps.signal })) {
    deps.signal.throwIfAborted();
    if (event.type === "fallback.used") requestedModel = event.to;
    if (event.type === "finished") return { message: event.message, requestedModel };
  }
  throw new RuntimeError("provider-protocol", "The model's stream ended without a final message", { retryable: true });
}

/** Throws when there is none. */
export function summaryIn(message: AssistantMessage): string {
  if (message.finish === "context-overflow")
    throw new RuntimeError("context-overflow", "The record did not fit into one request");
  if (message.finish === "refusal" || message.finish === "content-filter")
    throw new RuntimeError("model-refusal", "The model refused to summarise the conversation");
  if (message.finish === "length" || message.finish === "paused" || message.finish === "interrupted")
    throw new RuntimeError("model-output-limit", "The model's summary was cut off before its end", { retryable: true });
  const whole = textOf(message.content).trim();
  const inner = /^<summary>([\s\S]*?)(?:<\/summary>\s*)?$/i.exec(whole)?.[1] ?? whole;
  const summary = withoutTags(inner).trim();
  if (!summary) throw new RuntimeError("model-empty-answer", "The model's summary was empty", { retryable: true });
  return summary;
}
