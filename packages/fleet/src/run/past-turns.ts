import type { AgentEvent, Outcome } from "@outrider/runtime";
import { budgetWords } from "../limits/batch-governor.ts";

/** How far the conversation of a journal has come. */
export type Past =
  /** Nothing that was paid for is in it: it may as well begin anew. */
  | { readonly type: "new" }
  /** The process ended, or was stopped, in the middle. */
  | { readonly type: "cut-off" }
  | { readonly type: "ended"; readonly outcome: Outcome };

/** Reads it from the stored events. `isFree`: the answer may be any text, so that the last words of a model are one. */
export function lookBack(events: readonly AgentEvent[], { isFree }: { readonly isFree: boolean }): Past {
  const own = events.filter((event) => event.taskId === undefined);
  const begun = own.findLastIndex(({ type }) => type === "turn.started");
  const ended = own.findLast((event): event is AgentEvent<"turn.ended"> => event.type === "turn.ended");
  if (ended && own.indexOf(ended) > begun && !isUnfinished(ended.outcome)) return { type: "ended", outcome: ended.outcome };
  const answers = own.filter((event): event is AgentEvent<"message.ended"> => event.type === "message.ended");
  const last = answers.at(-1);
  if (!last) return { type: "new" };
  const { content, finish } = last.message;
  const isLast = own.slice(own.indexOf(last) + 1).every(({ type }) => type !== "input.added" && type !== "turn.started");
  if (isFree && isLast && finish === "stop" && content.every(({ type }) => type !== "tool-call")) {
    const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
    if (text !== "") return { type: "ended", outcome: { type: "completed", text } };
  }
  return { type: "cut-off" };
}

/** Stopped from outside: by a signal, a death of the process, or because the whole batch had no more to spend. */
export function isUnfinished(outcome: Outcome<unknown>): boolean {
  if (outcome.type === "cancelled") return outcome.cause !== "deadline";
  if (outcome.type !== "failed") return false;
  return outcome.error.code === "closed" || outcome.error.message.startsWith(budgetWords);
}
