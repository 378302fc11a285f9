import type { ImagePart, TextPart, UserMessage } from "../../protocol/content.ts";

/** More blocks than any tool has reason for: each of them costs on every request. */
export const maxBlocks: number = 100;

type Content = (TextPart | ImagePart)[];

/**
 * The border of the conversation on its way in: what a tool, a server, a host or a user says, as models can read it and as it is recorded.
 * Images that are too large are made smaller where that is possible; the same list where nothing has to change.
 */
export async function toSendableContent(content: Content): Promise<Content> {
  if (content.length <= maxBlocks && content.every((part) => part.type === "text" && part.text.isWellFormed())) return content;
  const { mendContent } = await import("./mend-content.ts");
  return mendContent(content);
}

export async function toSendableInput(message: UserMessage): Promise<UserMessage> {
  const content = await toSendableContent(message.content);
  return content === message.content ? message : { ...message, content };
}
