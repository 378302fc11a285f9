import type { Message, ToolResultPart } from "../protocol/content.ts";
import { estimateResult, estimateText } from "./token-estimate.ts";

export type ClearingPlan = {
  readonly through: number;
  readonly results: { callId: string; note: string }[];
  readonly freedTokens: number;
};

/** Shorter results are not worth a note. */
const minTokens = 100;

/** Every longer result among the first `through` messages gives way to a note: the cheap way to make room, without asking a model. */
export function planClearing(messages: readonly Message[], through: number): ClearingPlan {
  const results: ClearingPlan["results"] = [];
  let freedTokens = 0;
  for (const message of messages.slice(0, through)) {
    if (message.role !== "tool") continue;
    for (const part of message.content) {
      const size = estimateResult(part);
      if (size < minTokens) continue;
      const note = noteOf(part);
      results.push({ callId: part.callId, note });
      freedTokens += size - estimateText(note);
    }
  }
  return { through, results, freedTokens };
}

function noteOf(part: ToolResultPart): string {
  let characters = 0;
  let images = 0;
  for (const content of part.content) {
    if (content.type === "text") characters += content.text.length;
    else images++;
  }
  const size = [...(characters > 0 ? [`${characters} characters`] : []), ...(images > 0 ? [`${images} images`] : [])].join(", ");
  return `[This old ${part.name} result (${size}) was taken out to save room. Call ${part.name} again if you need it.]`;
}
