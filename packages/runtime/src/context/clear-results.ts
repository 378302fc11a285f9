import type { Message, ToolResultPart } from "../protocol/content.ts";
import { estimateResult, estimateText } from "./token-estimate.ts";

export type ClearingPlan = {
  readonly through: number;
  readonly results: { callId: string; note: string }[];
  readonly freedTokens: number;
};

/** Shorter results are not worth a note. */
const minTokens = 100;

/** Asking them again costs nothing and changes nothing. */
const repeatable: ReadonlySet<string> = new Set(["Read", "Glob", "Grep", "WebFetch", "WebSearch"]);
/** The work of a subagent cannot be had again without doing it again: it stays until it is summarised. */
const kept: ReadonlySet<string> = new Set(["Task", "Agent"]);

/** Every longer result among the first `through` messages gives way to a note: the cheap way to make room, without asking a model. */
export function planClearing(messages: readonly Message[], through: number): ClearingPlan {
  const results: ClearingPlan["results"] = [];
  let freedTokens = 0;
  for (const message of messages.slice(0, through)) {
    if (message.role !== "tool") continue;
    for (const part of message.content) {
      const size = estimateResult(part);
      if (size < minTokens || kept.has(part.name)) continue;
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
  const size = [
    ...(characters > 0 ? [`${characters} characters`] : []),
    ...(images > 0 ? [images === 1 ? "1 image" : `${images} images`] : []),
  ].join(", ");
  const what = `This old ${part.name} result (${size}${part.isError ? ", an error" : ""}) was taken out to save room.`;
  // Nobody may be led to do something twice because its result is gone.
  const remedy = repeatable.has(part.name)
    ? `Call ${part.name} again if you need it.`
    : "What the call did is done; do not repeat it for its output alone.";
  return `[${what} ${remedy}]`;
}
