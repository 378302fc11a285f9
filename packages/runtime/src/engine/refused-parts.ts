import type { PartPlace, Message } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { EventBody } from "../protocol/events.ts";

const maxReason = 300;

/** What to record of a refusal that names parts of the conversation, and the words for people; undefined for any other failure. */
export function toRefusedParts(
  error: unknown,
  messages: readonly Message[],
): { event: EventBody<"parts.refused">; warning: string } | undefined {
  if (!(error instanceof RuntimeError) || !error.refused || error.refused.parts.length === 0) return undefined;
  const parts = [...error.refused.parts];
  const reason = error.message.length > maxReason ? `${error.message.slice(0, maxReason)}…` : error.message;
  const names = [...new Set(parts.map((place) => describe(place, messages)))].join(", ");
  return {
    event: {
      type: "parts.refused",
      parts,
      note: `(A part stood here that is left out, since the provider refused the request because of it: ${reason.toWellFormed()})`,
    },
    warning: `The provider refused ${names}. It is left out from here on, and the request is made again: ${error.message}`,
  };
}

function describe({ message: index, part: at, item, seal }: PartPlace, messages: readonly Message[]): string {
  if (seal) return "the sealed thinking of earlier answers";
  const message = messages[index];
  if (message?.role === "tool") {
    const result = message.content[at];
    return `${kindOf(item === undefined ? undefined : result?.content[item]?.type)} in the result of ${result?.name ?? "a tool"}`;
  }
  return `${kindOf(message?.content[at]?.type)} in message ${index + 1}`;
}

function kindOf(type: string | undefined): string {
  return type === "image" ? "an image" : type === "text" ? "a text" : type === undefined ? "a part" : `a part (${type})`;
}
