import {
  type AssistantMessage,
  addUsage,
  callsOf,
  type JsonValue,
  type Message,
  noUsage,
  textOf,
  type Usage,
  userText,
} from "../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { ModelRequest, Provider } from "../model/model.ts";
import { untilAborted } from "../util/until-aborted.ts";
import type { Budget } from "./budget.ts";
import { type AnswerSchema, StructuredAnswer } from "./structured-output.ts";
import { runToolCall, type ToolCallDeps } from "./tool-call.ts";
import { runToolCalls } from "./tool-batch.ts";
import { TurnAborted } from "./turn-aborted.ts";

export type TurnDeps = ToolCallDeps & {
  readonly provider: Provider;
  /** Everything a request holds but its messages; the same for every request of a turn. */
  readonly request: Omit<ModelRequest, "messages">;
  /** How often the model may be asked in one turn. */
  readonly maxTurns: number | undefined;
  readonly budget: Budget | undefined;
  readonly answerSchema: AnswerSchema | undefined;
  /** Tokens that fit into one request together with its answer. */
  readonly contextWindow: () => Promise<number>;
  /** A promise to wait for while a reader that must not lose anything is behind. */
  readonly congestion: () => Promise<unknown> | undefined;
};

export type TurnReport = { outcome: Outcome; usage: Usage; modelCalls: number; modelDurationMs: number };

/** Answers cut by the output limit are continued this often before the turn fails. */
const maxContinuations = 3;
const maxPauses = 20;

/** One prompt to its end: ask the model, run what it calls, repeat. Never throws; the outcome says how it went. */
export async function runTurn(given: TurnDeps, history: readonly Message[]): Promise<TurnReport> {
  const structured = given.answerSchema && new StructuredAnswer(given.answerSchema);
  const deps = structured ? withAnswerForm(given, structured) : given;
  const messages = [...history];
  const report = { usage: { ...noUsage }, modelCalls: 0, modelDurationMs: 0 };
  const said = new Said();
  const end = (outcome: Outcome): TurnReport => ({ outcome, ...report });
  const askAgain = (note: string, origin: "continuation" | "empty-answer" | "output-schema"): void => {
    const input = userText(note);
    deps.emit({ type: "input.added", input, origin });
    messages.push(input);
  };
  try {
    while (true) {
      deps.signal.throwIfAborted();
      if (deps.maxTurns !== undefined && report.modelCalls >= deps.maxTurns) {
        return end({ type: "stopped", limit: "max-turns", text: said.last });
      }
      const startedAt = deps.clock();
      report.modelCalls++;
      const { message, requestedModel } = await askModel(deps, messages, said).finally(() => {
        report.modelDurationMs += Math.round(deps.clock() - startedAt);
      });
      messages.push(message);
      report.usage = addUsage(report.usage, message.usage);
      if (deps.budget?.spend(message, requestedModel) === "exceeded")
        return end({ type: "stopped", limit: "max-budget", text: said.last });

      const calls = callsOf(message);
      if (calls.length > 0) {
        said.closeAnswer();
        const results = await runToolCalls(deps, calls, runToolCall);
        messages.push({ role: "tool", content: results });
        structured?.judgeResults(results);
        if (structured?.accepted) return end(structuredOutcome(structured.accepted.value));
        continue;
      }
      const next = afterAnswer(message, said);
      if (next.type === "ask-again") {
        if (next.note !== undefined) askAgain(next.note, next.origin);
        continue;
      }
      const objection = await structured?.judgeText(said.answer);
      if (objection === undefined)
        return end(
          structured?.accepted ? structuredOutcome(structured.accepted.value) : { type: "completed", text: said.answer },
        );
      said.closeAnswer();
      askAgain(objection, "output-schema");
    }
  } catch (error) {
    return end(toOutcome(error, deps.signal, said.last));
  }
}

function withAnswerForm(deps: TurnDeps, structured: StructuredAnswer): TurnDeps {
  const { tool } = structured;
  if (tool) return { ...deps, tools: new Map([...deps.tools, [tool.name, tool]]) };
  return { ...deps, request: { ...deps.request, ...(deps.answerSchema && { outputSchema: deps.answerSchema.schema }) } };
}

function structuredOutcome(value: JsonValue): Outcome {
  return { type: "completed", text: JSON.stringify(value), structured: value };
}

/** What the model has said in this turn: its current answer, in pieces when it was cut, and the last words of any kind. */
class Said {
  answer = "";
  last = "";
  continuations = 0;
  pauses = 0;
  nudged = false;

  add(text: string): void {
    this.answer += text;
    if (this.answer.trim()) this.last = this.answer;
  }

  closeAnswer(): void {
    this.answer = "";
    this.continuations = 0;
  }
}

type Next = { type: "done" } | { type: "ask-again"; note?: string; origin: "continuation" | "empty-answer" };

/** What follows an answer without tool calls. */
function afterAnswer(message: AssistantMessage, said: Said): Next {
  switch (message.finish) {
    case "length":
      if (said.continuations++ >= maxContinuations) {
        throw new RuntimeError(
          "model-output-limit",
          `The answer was still cut off by the output limit after ${maxContinuations} continuations`,
          {
            hint: "Ask for a shorter answer, or raise the output limit",
          },
        );
      }
      return {
        type: "ask-again",
        note: "Your answer was cut off by the output limit. Go on exactly where it stopped, without repeating anything.",
        origin: "continuation",
      };
    case "paused":
      if (said.pauses++ >= maxPauses)
        throw new RuntimeError("provider-protocol", `The model paused more than ${maxPauses} times in one turn`);
      return { type: "ask-again", origin: "continuation" };
    case "refusal":
      throw new RuntimeError("model-refusal", "The model refused to answer", {
        hint: "Rephrase the request, or try another model",
      });
    case "content-filter":
      throw new RuntimeError("model-refusal", "The provider's content filter stopped the answer", {
        hint: "Rephrase the request",
      });
    case "context-overflow":
      throw new RuntimeError("context-overflow", "The conversation no longer fits into the model's context window");
    default:
      if (said.answer.trim()) return { type: "done" };
      if (said.nudged)
        throw new RuntimeError("model-empty-answer", "The model answered with nothing, twice", { retryable: true });
      said.nudged = true;
      return { type: "ask-again", note: "Your answer was empty. Give your final answer as text.", origin: "empty-answer" };
  }
}

/** `requestedModel` is the fallback when that was asked in the end. */
type Answer = { message: AssistantMessage; requestedModel: string };

async function askModel(deps: TurnDeps, messages: readonly Message[], said: Said): Promise<Answer> {
  const { signal } = deps;
  const messageId = deps.newId();
  const startedAt = deps.clock();
  const request: ModelRequest = { ...deps.request, messages };
  let partial = "";
  let requestedModel = request.model;
  const finish = (message: AssistantMessage): AssistantMessage => {
    const durationMs = Math.round(deps.clock() - startedAt);
    deps.emit({ type: "message.ended", messageId, message, durationMs, requestedModel });
    said.add(textOf(message.content));
    return message;
  };
  const listen = async (): Promise<AssistantMessage> => {
    for await (const event of deps.provider.stream(request, { signal })) {
      signal.throwIfAborted(); // whoever goes on talking after an abort is not listened to
      if (event.type === "finished") {
        const { inputTokens, outputTokens } = event.message.usage;
        deps.emit({ type: "context.updated", usedTokens: inputTokens + outputTokens, maxTokens: await deps.contextWindow() });
        return event.message;
      }
      deps.emit(Object.assign(event, { messageId })); // the event is ours alone: no copy per delta
      if (event.type === "text.delta") partial += event.text;
      else if (event.type === "retry.scheduled" || event.type === "fallback.used") partial = "";
      if (event.type === "fallback.used") requestedModel = event.to;
      const congestion = deps.congestion();
      if (congestion) await congestion;
    }
    throw new RuntimeError("provider-protocol", "The model's stream ended without a final message", { retryable: true });
  };
  try {
    const message = finish(await untilAborted(listen(), signal));
    return { message, requestedModel };
  } catch (error) {
    // What was already said was seen: it belongs to the record, without the half-written parts that cannot be sent back.
    if (signal.aborted && partial) finish(interrupted(deps, partial));
    throw error;
  }
}

function interrupted(deps: TurnDeps, text: string): AssistantMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    model: { provider: deps.provider.name, id: deps.request.model },
    finish: "interrupted",
    usage: { ...noUsage },
  };
}

function toOutcome(error: unknown, signal: AbortSignal, text: string): Outcome {
  const reason: unknown = signal.aborted ? signal.reason : error;
  if (reason instanceof TurnAborted) return { type: "cancelled", cause: reason.by, text };
  return { type: "failed", error: toRuntimeError(reason).toJSON(), text };
}
