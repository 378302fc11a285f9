import type { Message, ToolResultPart } from "../protocol/content.ts";
import type { FactsOf, ToolFacts } from "../protocol/tool-facts.ts";
import { estimateResult, estimateText } from "./token-estimate.ts";

export type ClearingPlan = {
  readonly through: number;
  readonly results: { callId: string; note: string }[];
  readonly freedTokens: number;
};

/** Shorter results are not worth a note. */
const minTokens = 100;

/** Every longer result among the first `through` messages gives way to a note: the cheap way to make room, without asking a model. */
export function planClearing(messages: readonly Message[], through: number, factsOf: FactsOf): ClearingPlan {
  const results: ClearingPlan["results"] = [];
  let freedTokens = 0;
  for (const message of messages.slice(0, through)) {
    if (message.role !== "tool") continue;
    for (const part of message.content) {
      const size = estimateResult(part);
      const facts = factsOf(part.name);
      // The work of a subagent cannot be had again without doing it again: it stays until it is summarised.
      if (size < minTokens || facts?.startsAgents) continue;
      const note = noteOf(part, facts);
      results.push({ callId: part.callId, note });
      freedTokens += size - estimateText(note);
    }
  }
  return { through, results, freedTokens };
}

function noteOf(part: ToolResultPart, facts: ToolFacts | undefined): string {
  let characters = 0;
  let images = 0;
  for (const content of part.content) {
    if (content.type === "text") characters += content.text.length;
    else images++;
  }
  const size = [
    ...(characters > 0 ? [`${characters} characters`] : []),
    ...(images > 0 ? [images === 1 ? "1 image" : `${images} images`] : []),
  ].join(", ");
  const what = `This old ${part.name} result (${size}${part.isError ? ", an error" : ""}) was taken out to save room.`;
  // Nobody may be led to do something twice because its result is gone.
  const remedy = facts?.isRepeatable
    ? `Call ${part.name} again if you need it.`
    : "What the call did is done; do not repeat it for its output alone.";
  return `[${what} ${remedy}]`;
}
