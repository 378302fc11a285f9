import type { AssistantPart, Message, TextPart, ToolDefinition, ToolResultPart } from "../protocol/content.ts";

/**
 * Nobody but a model's own tokenizer can count; this is what can be said without one. UTF-8 bytes tell scripts apart for
 * nothing: English and code have 3.5 to 4 bytes a token, Cyrillic about 4, Chinese and Japanese about 3 (one a character).
 */
const bytesPerToken = 3.5;
/** Providers scale images down before they count them. */
const tokensPerImage = 1_600;
/** Roles and separators. */
const tokensPerMessage = 4;

export function estimateText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

const known = new WeakMap<Message, number>();

/** Messages never change, so each one is counted once. */
export function estimateMessage(message: Message): number {
  const before = known.get(message);
  if (before !== undefined) return before;
  let tokens = tokensPerMessage;
  for (const part of message.content) tokens += estimatePart(part);
  known.set(message, tokens);
  return tokens;
}

export function estimateMessages(messages: readonly Message[], from = 0, to: number = messages.length): number {
  let tokens = 0;
  for (let index = from; index < to; index++) {
    const message = messages[index];
    if (message) tokens += estimateMessage(message);
  }
  return tokens;
}

/** What every request holds beside its messages. */
export function estimateOverhead(request: { readonly system: string; readonly tools: readonly ToolDefinition[] }): number {
  return estimateText(request.system) + (request.tools.length > 0 ? estimateText(JSON.stringify(request.tools)) : 0);
}

export function estimateResult(part: ToolResultPart): number {
  let tokens = tokensPerMessage;
  for (const content of part.content) tokens += estimatePart(content);
  return tokens;
}

function estimatePart(part: AssistantPart | TextPart | ToolResultPart | { type: "image" }): number {
  switch (part.type) {
    case "text":
    case "reasoning":
      return estimateText(part.text);
    case "image":
      return tokensPerImage;
    case "tool-call":
      return estimateText(part.name) + estimateText(part.malformedInput ?? JSON.stringify(part.input) ?? "");
    case "tool-result":
      return estimateResult(part);
    case "opaque":
      return estimateText(JSON.stringify(part.value));
  }
}
