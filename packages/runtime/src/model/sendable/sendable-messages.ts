import type { AssistantPart, ImagePart, Message, TextPart, ToolResultPart } from "../../protocol/content.ts";
import { wellFormed, wellFormedValue } from "../../util/well-formed.ts";
import { toSendableName } from "./tool-names.ts";

/** What stands for an image; the code that looks at images is loaded when there is one. */
export type ToImage = (part: ImagePart) => ImagePart | TextPart;

/** The message as every provider can read it; the same object where nothing had to change. Its parts keep their places. */
export function toSendableMessage(message: Message, toImage: ToImage): Message {
  switch (message.role) {
    case "user":
      return withContent(
        message,
        mapped(message.content, (part) => toSendablePart(part, toImage)),
      );
    case "assistant":
      return withContent(message, mapped(message.content, toSendableAnswer));
    case "tool":
      return withContent(
        message,
        mapped(message.content, (result) => toSendableResult(result, toImage)),
      );
  }
}

function toSendablePart(part: TextPart | ImagePart, toImage: ToImage): TextPart | ImagePart {
  if (part.type === "image") return toImage(part);
  const text = wellFormed(part.text);
  return text === part.text ? part : { ...part, text };
}

function toSendableResult(result: ToolResultPart, toImage: ToImage): ToolResultPart {
  const content = mapped(result.content, (part) => toSendablePart(part, toImage));
  const name = toSendableName(result.name);
  const callId = wellFormed(result.callId);
  if (content === result.content && name === result.name && callId === result.callId) return result;
  return { ...result, content, name, callId };
}

function toSendableAnswer(part: AssistantPart): AssistantPart {
  if (part.type !== "tool-call") return wellFormedValue(part);
  const name = toSendableName(part.name);
  return wellFormedValue(name === part.name ? part : { ...part, name });
}

function withContent<M extends Message>(message: M, content: M["content"]): M {
  return content === message.content ? message : { ...message, content };
}

/** The list itself where no item became another. */
function mapped<T>(items: T[], change: (item: T) => T): T[] {
  let result: T[] | undefined;
  items.forEach((item, index) => {
    const next = change(item);
    if (next === item) return;
    result ??= [...items];
    result[index] = next;
  });
  return result ?? items;
}
