import {
  type AssistantMessage,
  addUsage,
  type JsonValue,
  type Message,
  noUsage,
  textOf,
  type ToolResultPart,
  type Usage,
  type UserMessage,
  userText,
} from "../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import type { EventBody } from "../protocol/events.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { MaskedRequest, SessionModel } from "../model/model.ts";
import type { Masked } from "../util/masked.ts";
import { untilAborted } from "../util/until-aborted.ts";
import type { Fit } from "../context/fit.ts";
import type { Budget } from "./budget.ts";
import { liveCallsOf } from "./live-call.ts";
import { StopHooks, startSubagent } from "./stop-hooks.ts";
import { type AnswerSchema, StructuredAnswer } from "./structured-output.ts";
import { runToolCall, type ToolCallDeps } from "./tool-call.ts";
import { runToolCalls } from "./tool-batch.ts";
import { TurnAborted } from "./turn-aborted.ts";

export type TurnDeps = ToolCallDeps & {
  readonly provider: SessionModel;
  /** Everything a request holds but its messages; the same for every request of a turn. */
  readonly request: Omit<MaskedRequest, "messages">;
  /** How often the model may be asked in one turn. */
  readonly maxTurns: number | undefined;
  readonly budget: Budget | undefined;
  readonly answerSchema: AnswerSchema | undefined;
  /** Tokens that fit into one request together with its answer. */
  readonly contextWindow: () => Promise<number>;
  /** Makes room in the context where it gets full; without it, what does not fit fails. */
  readonly fit?: Fit | undefined;
  /** The turn is a subagent's: its hooks are those of subagents. */
  readonly agent?: SubagentRef | undefined;
  /** What has arrived for this turn since the model was asked. */
  readonly takeInput?: () => readonly UserMessage[];
  /** A promise to wait for while a reader that must not lose anything is behind. */
  readonly congestion: () => Promise<unknown> | undefined;
};

export type SubagentRef = { readonly id: string; readonly type: string };

export type TurnReport = { outcome: Outcome; usage: Usage; modelCalls: number; modelDurationMs: number };

/** Answers cut by the output limit are continued this often before the turn fails. */
const maxContinuations = 3;
const maxPauses = 20;

/** One prompt to its end: ask the model, run what it calls, repeat. Never throws; the outcome says how it went. */
export async function runTurn(given: TurnDeps, history: readonly Masked<Message>[]): Promise<TurnReport> {
  const structured = given.answerSchema && new StructuredAnswer(given.answerSchema);
  let halted: string | undefined;
  const deps = {
    ...(structured ? withAnswerForm(given, structured) : given),
    halt: (reason: string) => {
      halted ??= reason;
    },
    halted: () => halted,
  };
  const stopHooks = deps.hooks && new StopHooks(deps);
  const messages = [...history];
  const report = { usage: { ...noUsage }, modelCalls: 0, modelDurationMs: 0 };
  const said = new Said();
  const end = (outcome: Outcome): TurnReport => {
    const usage = deps.fit ? addUsage(report.usage, deps.fit.usage()) : report.usage;
    return { outcome, ...report, usage };
  };
  const overBudget = (): TurnReport => end({ type: "stopped", limit: "max-budget", text: said.last });
  const stopped = (reason: string): TurnReport => end({ type: "stopped", limit: "hook", reason, text: said.last });
  const askAgain = (note: string, origin: EventBody<"input.added">["origin"]): void => {
    const input = hide(deps, userText(note));
    deps.emit({ type: "input.added", input, origin });
    messages.push(input);
  };
  try {
    if (deps.agent && deps.hooks) {
      const { notes, stop } = await startSubagent(deps);
      if (stop !== undefined) return stopped(stop);
      for (const note of notes) askAgain(note, "hook");
    }
    while (true) {
      deps.signal.throwIfAborted();
      if (deps.maxTurns !== undefined && report.modelCalls >= deps.maxTurns) {
        return end({ type: "stopped", limit: "max-turns", text: said.last });
      }
      // Not before the first answer: two prompts that come at once are two turns.
      for (const input of (report.modelCalls > 0 && deps.takeInput?.()) || []) {
        deps.emit({ type: "input.added", input, origin: "user" });
        messages.push(hide(deps, input));
      }
      if (deps.budget?.exceeded()) return overBudget(); // subagents and hooks spend too
      if ((await deps.fit?.makeRoom(messages)) === "over-budget") return overBudget();
      const startedAt = deps.clock();
      report.modelCalls++;
      const answer = await askModel(deps, messages, said)
        .finally(() => {
          report.modelDurationMs += Math.round(deps.clock() - startedAt);
        })
        .catch((error: unknown) => afterOverflow(deps, messages, error));
      if (answer === "over-budget") return overBudget();
      if (answer === "retry") {
        report.modelCalls--;
        continue;
      }
      const { message, requestedModel } = answer;
      messages.push(hide(deps, message)); // as it is recorded; its calls are run as they came
      report.usage = addUsage(report.usage, message.usage);
      if (deps.budget?.spend(message, requestedModel) === "exceeded") return overBudget();

      const calls = liveCallsOf(message);
      if (calls.length > 0) {
        said.closeAnswer();
        const results = await runToolCalls(deps, calls, runToolCall);
        messages.push(toToolMessage(results));
        structured?.judgeResults(results);
        if (structured?.accepted) {
          const outcome = structuredOutcome(structured.accepted.value);
          await stopHooks?.objection(outcome);
          return end(outcome);
        }
        if (halted !== undefined) return stopped(halted);
        continue;
      }
      if (message.finish === "context-overflow") {
        if ((await afterOverflow(deps, messages, windowFull())) === "over-budget") return overBudget();
        askAgain(goOnNote, "continuation");
        continue;
      }
      const next = afterAnswer(message, said);
      if (next.type === "ask-again") {
        if (next.note !== undefined) askAgain(next.note, next.origin);
        continue;
      }
      const objection = await structured?.judgeText(said.answer);
      if (objection !== undefined) {
        said.closeAnswer();
        askAgain(objection, "output-schema");
        continue;
      }
      const outcome: Completed = structured?.accepted
        ? structuredOutcome(structured.accepted.value)
        : { type: "completed", text: said.answer };
      const goOn = await stopHooks?.objection(outcome);
      if (goOn === undefined) return end(outcome);
      said.closeAnswer();
      askAgain(goOn, "hook");
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

type Completed = Outcome & { type: "completed" };

function structuredOutcome(value: JsonValue): Completed {
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
        note: goOnNote,
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
    default:
      if (said.answer.trim()) return { type: "done" };
      if (said.nudged)
        throw new RuntimeError("model-empty-answer", "The model answered with nothing, twice", { retryable: true });
      said.nudged = true;
      return { type: "ask-again", note: "Your answer was empty. Give your final answer as text.", origin: "empty-answer" };
  }
}

const goOnNote = "Your answer was cut off by the output limit. Go on exactly where it stopped, without repeating anything.";

function windowFull(): RuntimeError {
  return new RuntimeError("context-overflow", "The conversation no longer fits into the model's context window");
}

/** A request that was too long is made shorter and asked again, once. */
async function afterOverflow(deps: TurnDeps, messages: Message[], error: unknown): Promise<"retry" | "over-budget"> {
  const tooLong = error instanceof RuntimeError && error.code === "context-overflow";
  if (!tooLong || !deps.fit || deps.signal.aborted) throw error;
  return await deps.fit.afterOverflow(messages, error);
}

/** `requestedModel` is the fallback when that was asked in the end. */
type Answer = { message: AssistantMessage; requestedModel: string };

async function askModel(deps: TurnDeps, messages: readonly Masked<Message>[], said: Said): Promise<Answer> {
  const { signal } = deps;
  const messageId = deps.newId();
  const startedAt = deps.clock();
  const request: MaskedRequest = { ...deps.request, messages };
  let partial = "";
  let firstTokenMs: number | undefined;
  let requestedModel = request.model;
  const finish = (message: AssistantMessage): AssistantMessage => {
    const durationMs = Math.round(deps.clock() - startedAt);
    const heard = firstTokenMs === undefined ? {} : { firstTokenMs };
    deps.emit({ type: "message.ended", messageId, message, durationMs, requestedModel, ...heard });
    said.add(textOf(hide(deps, message).content));
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
      if (event.type === "retry.scheduled" || event.type === "fallback.used") {
        partial = "";
        firstTokenMs = undefined;
      } else firstTokenMs ??= Math.round(deps.clock() - startedAt);
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

function hide<T>({ redactor }: TurnDeps, value: T): Masked<T> {
  return redactor.value(value);
}

function toToolMessage(results: readonly Masked<ToolResultPart>[]): Masked<Message> {
  const message: Message = { role: "tool", content: [...results] };
  return message as Masked<Message>; // all of its parts are
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

export function toOutcome(error: unknown, signal: AbortSignal, text: string): Outcome {
  const reason: unknown = signal.aborted ? signal.reason : error;
  if (reason instanceof TurnAborted) return { type: "cancelled", cause: reason.by, text };
  return { type: "failed", error: toRuntimeError(reason).toJSON(), text };
}
