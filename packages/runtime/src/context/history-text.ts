import { type AssistantPart, type JsonValue, type Message, textOf, type ToolResultPart } from "../protocol/content.ts";

/** Characters of one tool result, or of the input of one call, that are shown: the rest says little for what it costs. */
const partLimit = 4_000;

/**
 * A conversation as text for the model that summarises it, piece by piece; with `hasSummary` the first message is that of an earlier compaction. Who said what is told by tags that nothing
 * said can forge, so that words out of a tool's output are never taken for the user's.
 */
export function historyText(messages: readonly Message[], hasSummary: boolean): string[] {
  return messages.flatMap((message, index) => {
    if (index === 0 && hasSummary) return [tagged("earlier-summary", textOf(message.content))];
    return toTexts(message).filter(Boolean);
  });
}

function toTexts(message: Message): string[] {
  switch (message.role) {
    case "user":
      return [tagged("user", message.content.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n"))];
    case "assistant":
      return message.content.map(assistantText);
    case "tool":
      return message.content.map(resultText);
  }
}

function assistantText(part: AssistantPart): string {
  switch (part.type) {
    case "text":
      return part.text.trim() ? tagged("assistant", part.text) : "";
    case "tool-call":
      return tagged(`tool-call name=${JSON.stringify(part.name)}`, shorten(part.malformedInput ?? jsonOf(part.input), partLimit));
    default:
      return ""; // thinking was never meant to be kept
  }
}

function resultText(part: ToolResultPart): string {
  const text = part.content.map((content) => (content.type === "text" ? content.text : "[image]")).join("\n");
  return tagged(`tool-output name=${JSON.stringify(part.name)}${part.isError ? " error" : ""}`, shorten(text, partLimit));
}

function jsonOf(input: unknown): string {
  return JSON.stringify(input as JsonValue) ?? ""; // inputs come out of JSON
}

function tagged(tag: string, text: string): string {
  return `<${tag}>\n${withoutTags(text)}\n</${tag.split(" ")[0]}>`;
}

/** Takes the force out of anything that looks like one of our tags. */
export function withoutTags(text: string): string {
  return text.replace(
    /<(?=\/?\s*(?:user|assistant|tool-call|tool-output|earlier-summary|summary|kept|file|instructions|part)\b)/gi,
    "‹",
  );
}

/** The beginning and the end say most. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  const head = wholeCharacters(text.slice(0, half));
  const tail = text.slice(-half).replace(/^[\udc00-\udfff]/, "");
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
}

/** A text that was cut may end in half a character. */
export function wholeCharacters(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, "");
}
