import type { AssistantMessage } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";

/** An answer cut by the output limit is continued this often before the turn fails; all of a turn's together so often. */
const maxContinuations = 3;
const maxContinuationsInAll = 30;
const maxPauses = 20;

type Next = { type: "done" } | { type: "ask-again"; note?: string; origin: "continuation" | "empty-answer" };

/** What follows an answer without tool calls. */
export function afterAnswer(message: AssistantMessage, said: Said): Next {
  switch (message.finish) {
    case "length":
      said.goOn();
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

export const goOnNote =
  "Your answer was cut off by the output limit. Go on exactly where it stopped, without repeating anything.";

/** What the model has said in this turn: its current answer, in pieces when it was cut, and the last words of any kind. */
export class Said {
  answer = "";
  last = "";
  pauses = 0;
  nudged = false;
  #continuations = 0;
  #continuationsInAll = 0;

  add(text: string): void {
    this.answer += text;
    if (this.answer.trim()) this.last = this.answer;
  }

  closeAnswer(): void {
    this.answer = "";
    this.#continuations = 0;
  }

  /** Its answer was cut, and is to go on. Throws when that has been done often enough. */
  goOn(): void {
    const inAll = this.#continuationsInAll++ >= maxContinuationsInAll;
    if (this.#continuations++ < maxContinuations && !inAll) return;
    const what = inAll ? "Answers were" : "The answer was still";
    const times = inAll ? `${maxContinuationsInAll} times in one turn` : `after ${maxContinuations} continuations`;
    throw new RuntimeError("model-output-limit", `${what} cut off by the output limit ${times}`, {
      hint: "Ask for a shorter answer, or raise the output limit",
    });
  }
}
