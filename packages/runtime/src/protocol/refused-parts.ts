import type { AssistantPart, PartPlace, ImagePart, Message, TextPart, ToolResultPart } from "./content.ts";

/** The messages with a note where these parts stood. Thoughts and other parts that only a provider understands go without one. */
export function setPartsAside(
  messages: readonly Message[],
  { parts, note }: { readonly parts: readonly PartPlace[]; readonly note: string },
): Message[] {
  const text: TextPart = { type: "text", text: note };
  return messages.map((message, index) => {
    const here = parts.filter((place) => place.message === index);
    return here.length === 0 ? message : without(message, here, text);
  });
}

function without(message: Message, here: readonly PartPlace[], text: TextPart): Message {
  const isNamed = (part: number): boolean => here.some((place) => place.part === part);
  switch (message.role) {
    case "user":
      return { ...message, content: message.content.map((part, at) => (isNamed(at) ? text : part)) };
    case "tool":
      return {
        ...message,
        content: message.content.map((part, at) => (isNamed(at) ? withoutItems(part, { here, at, text }) : part)),
      };
    case "assistant": {
      const isSeal = (part: number): boolean => here.some((place) => place.part === part && place.seal);
      const content = message.content.flatMap((part, at) =>
        isSeal(at) ? withoutSeal(part) : isNamed(at) ? inPlaceOf(part, text) : [part],
      );
      return { ...message, content: content.length > 0 ? content : [text] };
    }
  }
}

type Items = { readonly here: readonly PartPlace[]; readonly at: number; readonly text: TextPart };

function withoutItems(result: ToolResultPart, { here, at, text }: Items): ToolResultPart {
  const items = here.filter((place) => place.part === at).map(({ item }) => item);
  if (items.includes(undefined)) return { ...result, content: [text] };
  return { ...result, content: result.content.map((part, index): TextPart | ImagePart => (items.includes(index) ? text : part)) };
}

/** Words and calls stay; a thought is nothing without its seal. */
function withoutSeal(part: AssistantPart): AssistantPart[] {
  if (part.type === "reasoning" || part.type === "opaque") return [];
  const { providerMetadata: _, ...rest } = part;
  return [rest];
}

function inPlaceOf(part: AssistantPart, text: TextPart): AssistantPart[] {
  if (part.type === "tool-call") return [{ ...part, input: { note: text.text } }]; // its result needs a call
  return part.type === "text" ? [text] : [];
}
