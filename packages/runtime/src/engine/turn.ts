import {
  type AssistantMessage,
  addUsage,
  type JsonValue,
  type Message,
  noUsage,
  textOf,
  type ToolResultPart,
  type Usage,
  userText,
} from "../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import type { EventBody } from "../protocol/events.ts";
import { setPartsAside } from "../protocol/refused-parts.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { MaskedRequest } from "../model/model.ts";
import type { Masked } from "../util/masked.ts";
import { untilAborted } from "../util/until-aborted.ts";
import { wellFormedValue } from "../util/well-formed.ts";
import type { Overflow } from "../context/fit.ts";
import type { CallDeps, Halt, SessionDeps, TurnDeps } from "./deps.ts";
import { boundCalls, liveCallsOf } from "./live-call.ts";
import { afterAnswer, goOnNote, Said } from "./after-answer.ts";
import { RepeatedCalls } from "./repeated-calls.ts";
import type { StructuredAnswer } from "./structured-output.ts";
import { runToolCall } from "./tool-call.ts";
import { runToolCalls } from "./tool-batch.ts";
import { TurnAborted } from "./turn-aborted.ts";

type Deps = SessionDeps & TurnDeps;

export type TurnReport = { outcome: Outcome; usage: Usage; modelCalls: number; modelDurationMs: number };

/** One prompt to its end: ask the model, run what it calls, repeat. Never throws; the outcome says how it went. */
export async function runTurn(session: SessionDeps, turn: TurnDeps, history: readonly Masked<Message>[]): Promise<TurnReport> {
  const structured = session.answerSchema?.begin();
  let halted: Halt | undefined;
  const followUps: string[] = [];
  const deps: Deps & CallDeps = {
    ...(structured ? withAnswerForm(session, structured) : session),
    ...turn,
    repeats: new RepeatedCalls(session.loops),
    halt: (why: Halt) => {
      halted ??= why;
    },
    halted: () => halted,
    followUp: (text) => void followUps.push(text),
  };
  const { repeats } = deps;
  const { ledger } = deps.provider;
  const hooking = deps.hooks && (await import("./stop-hooks.ts"));
  const stopHooks = hooking && new hooking.StopHooks(deps);
  const messages = [...history];
  const report = { usage: { ...noUsage }, modelCalls: 0, modelDurationMs: 0 };
  const said = new Said();
  const end = (outcome: Outcome): TurnReport => {
    const usage = deps.fit ? addUsage(report.usage, deps.fit.usage()) : report.usage;
    return { outcome, ...report, usage };
  };
  const stopped = ({ limit, reason, deferred }: Halt): TurnReport =>
    end({ type: "stopped", limit, reason, text: said.last, ...(deferred && { deferred }) });
  const askAgain = (note: string, origin: EventBody<"input.added">["origin"]): void => {
    const input = hide(deps, userText(note));
    deps.emit({ type: "input.added", input, origin });
    messages.push(input);
  };
  let overflowed = false;
  let refused = false;
  try {
    if (deps.agent && hooking) {
      const { notes, stop } = await hooking.startSubagent(deps);
      if (stop !== undefined) return stopped({ limit: "hook", reason: stop });
      for (const note of notes) askAgain(note, "hook");
    }
    while (true) {
      if (report.modelCalls > 0) await untilAborted(nextRound(), deps.signal); // no timer or socket waits for a model that answers at once
      deps.signal.throwIfAborted();
      if (deps.maxTurns !== undefined && report.modelCalls >= deps.maxTurns) {
        return end({ type: "stopped", limit: "max-turns", text: said.last });
      }
      // Not before the first answer: two prompts that come at once are two turns.
      const added = (report.modelCalls > 0 && deps.takeInput?.()) || [];
      for (const input of added) {
        deps.emit({ type: "input.added", ...input });
        messages.push(hide(deps, input.input));
        repeats.restart();
      }
      for (const { origin, input } of added) {
        const named = origin === "user" ? await deps.referTo?.(input) : undefined;
        if (!named) continue;
        deps.emit(named);
        messages.push(hide(deps, named.input));
      }
      if (added.length > 0) await deps.flush(); // on record before the model is told: it is never told twice
      if (ledger.reached()) throw limitReached(); // subagents and hooks ask too
      const room = await deps.fit?.makeRoom(messages);
      if (room === "limit-reached") throw limitReached();
      if (room === "changed") repeats.forget();
      const startedAt = deps.clock();
      report.modelCalls++;
      const answer = await askModel(deps, messages, said)
        .finally(() => {
          report.modelDurationMs += Math.round(deps.clock() - startedAt);
        })
        .catch(async (error: unknown) =>
          !refused && (await setRefusedAside(deps, messages, error))
            ? "set-aside"
            : await afterOverflow(deps, messages, { cause: error, again: overflowed }),
        );
      refused = answer === "set-aside";
      if (answer === "set-aside") {
        report.modelCalls--;
        continue;
      }
      if (answer === "changed") {
        report.modelCalls--;
        overflowed = true;
        repeats.forget();
        continue;
      }
      const { message } = answer;
      messages.push(hide(deps, message)); // as it is recorded; its calls are run as they came
      report.usage = addUsage(report.usage, message.usage);
      if (ledger.reached() === "max-budget") throw limitReached();

      const calls = liveCallsOf(message);
      if (calls.length > 0) {
        said.closeAnswer();
        const results = await runToolCalls(deps, calls, runToolCall);
        messages.push(toToolMessage(results));
        const notes = deps.hooks ? await (await import("./after-batch.ts")).afterBatch(deps, calls, results) : [];
        for (const text of followUps.splice(0)) askAgain(text, "skill");
        for (const note of notes) askAgain(note, "hook");
        structured?.judgeResults(results);
        if (structured?.accepted) {
          const outcome = structuredOutcome(structured.accepted.value);
          await stopHooks?.objection(outcome);
          return end(stopHooks?.mark(outcome) ?? outcome);
        }
        const { note, stop } = repeats.endAnswer(results);
        if (stop !== undefined) deps.halt({ limit: "loop", reason: stop });
        if (halted !== undefined) return stopped(halted);
        if (note !== undefined) askAgain(note, "continuation");
        overflowed = false;
        continue;
      }
      if (message.finish === "context-overflow") {
        await afterOverflow(deps, messages, { cause: windowFull(), again: overflowed });
        overflowed = true;
        repeats.forget();
        said.goOn();
        askAgain(goOnNote, "continuation");
        continue;
      }
      overflowed = false;
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
      if (goOn === undefined) return end(stopHooks?.mark(outcome) ?? outcome);
      said.closeAnswer();
      askAgain(goOn, "hook");
    }
  } catch (error) {
    const limit = isLimit(error) && !deps.signal.aborted ? ledger.reached() : undefined;
    if (!limit) {
      const outcome = toOutcome(error, deps.signal, said.last);
      if (deps.hooks) (await import("./after-batch.ts")).tellFailure(deps, outcome);
      return end(outcome);
    }
    const reason = error instanceof RuntimeError ? error.hint : undefined;
    return end({ type: "stopped", limit, text: said.last, ...(reason !== undefined && { reason }) });
  }
}

function nextRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function limitReached(): RuntimeError {
  return new RuntimeError("limit-reached", "No more may be asked for this prompt");
}

function isLimit(error: unknown): boolean {
  return error instanceof RuntimeError && error.code === "limit-reached";
}

function withAnswerForm(deps: SessionDeps, structured: StructuredAnswer): SessionDeps {
  const { tool, isOffered } = structured;
  const tools = new Map([...deps.tools, [tool.name, tool]]);
  if (isOffered || !deps.answerSchema) return { ...deps, tools };
  return { ...deps, tools, request: { ...deps.request, outputSchema: deps.answerSchema.schema } };
}

type Completed = Outcome & { type: "completed" };

function structuredOutcome(value: JsonValue): Completed {
  return { type: "completed", text: JSON.stringify(value), structured: value };
}

function windowFull(): RuntimeError {
  return new RuntimeError("context-overflow", "The conversation no longer fits into the model's context window");
}

/** Parts that the provider refused give way to a note, in the record too. False for any other failure. */
async function setRefusedAside(deps: Deps, messages: Masked<Message>[], error: unknown): Promise<boolean> {
  if (deps.signal.aborted || !(error instanceof RuntimeError) || !error.refused) return false;
  const { toRefusedParts } = await import("./refused-parts.ts");
  const found = toRefusedParts(error, messages);
  if (!found) return false;
  const event = hide(deps, found.event);
  deps.emit({ type: "warning.raised", message: found.warning });
  deps.emit(found.event);
  messages.splice(0, messages.length, ...(setPartsAside(messages, event) as Masked<Message>[])); // of masked messages and a masked note
  return true;
}

/** A request that was too long is made shorter, once; throws where that cannot be. */
async function afterOverflow(deps: Deps, messages: Message[], overflow: Overflow): Promise<"changed"> {
  const { cause } = overflow;
  const tooLong = cause instanceof RuntimeError && cause.code === "context-overflow";
  if (!tooLong || !deps.fit || deps.signal.aborted) throw cause;
  const made = await deps.fit.afterOverflow(messages, overflow);
  if (made === "limit-reached") throw limitReached();
  return made;
}

async function askModel(deps: Deps, messages: readonly Masked<Message>[], said: Said): Promise<{ message: AssistantMessage }> {
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
    said.add(textOf(message.content));
    return message;
  };
  const listen = async (): Promise<AssistantMessage> => {
    for await (const event of deps.provider.stream(request, { signal })) {
      signal.throwIfAborted(); // a model that goes on talking after an abort is not listened to
      if (event.type === "finished") {
        const { inputTokens, outputTokens } = event.message.usage;
        deps.emit({ type: "context.updated", usedTokens: inputTokens + outputTokens, maxTokens: await deps.contextWindow() });
        // Half characters are of no use to a tool, and strict readers of our output would stop at them.
        return wellFormedValue(boundCalls(event.message));
      }
      if (event.type === "warning.raised") {
        deps.emit(event);
        continue;
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
    return { message: finish(await untilAborted(listen(), signal)) };
  } catch (error) {
    // What was already said was seen: it belongs to the record, without the half-written parts that cannot be sent back.
    if (signal.aborted && partial) finish(interrupted(deps, partial));
    throw error;
  }
}

function hide<T>({ redactor }: Pick<Deps, "redactor">, value: T): Masked<T> {
  return redactor.value(value);
}

function toToolMessage(results: readonly Masked<ToolResultPart>[]): Masked<Message> {
  const message: Message = { role: "tool", content: [...results] };
  return message as Masked<Message>; // all of its parts are
}

function interrupted(deps: Deps, text: string): AssistantMessage {
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
